// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/report/report_page.h"

#include <filesystem>

#include "lib/base/error.h"
#include "lib/base/json_text.h"
#include "lib/converter/report/report_page_files.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

const std::string& file(const std::string& name) {
  for (const FolderFile& each : report_page_files()) {
    if (each.name == name) return each.text;
  }
  NNC_ASSERT(false, "no file " + name + " in lib/report_page");
}

// Returns JSON that no reader of HTML takes for the end of its script: "<" occurs in strings only, where it may be
// escaped.
std::string json_in_html(const json& value) {
  std::string text;
  for (const char letter : json_text(value, -1, true)) {
    if (letter == '<') {
      text += "\\u003c";
    } else {
      text += letter;
    }
  }
  return text;
}

void put(std::string& page, const std::string& mark, const std::string& text) {
  const size_t position = page.find(mark);
  NNC_ASSERT(position != std::string::npos, "no " + mark + " in lib/report_page/page.html");
  page.replace(position, mark.size(), text);
}

}  // namespace

std::string report_page(const json& report) {
  std::string scripts;
  for (const char* name : {"text.js", "findings.js", "layout.js", "drawing.js", "graph.js", "tables.js", "page.js"}) {
    scripts += file(name);
  }
  std::string page = file("page.html");
  put(page, "@style@", file("page.css"));
  put(page, "@scripts@", scripts);
  put(page, "@report@", json_in_html(report));  // last: marks in the report's texts are not replaced
  return page;
}

bool is_page(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  return extension == ".html" || extension == ".htm";
}

std::string report_text(const json& report, const std::string& path) {
  return is_page(path) ? report_page(report) : json_text(report, 2) + "\n";
}

}  // namespace nnapi_convert
