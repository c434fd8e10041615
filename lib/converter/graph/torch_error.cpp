// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/torch_error.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <vector>

namespace nnapi_convert {
namespace {

constexpr const char* kTrace = "Traceback of TorchScript";
constexpr const char* kPlain = "RuntimeError: ";

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// True for a line that begins with the name of an error: "RuntimeError: ...", "builtins.ValueError: ...".
bool names_error(const std::string& line) {
  const size_t end = line.find(": ");
  if (end == std::string::npos) return false;
  const std::string name = line.substr(0, end);
  return name.find(' ') == std::string::npos && (ends_with(name, "Error") || ends_with(name, "Exception"));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Removes what means something only in LibTorch's own code. Nothing else may be left of an assertion's message.
std::string without_internals(std::string text) {
  const bool is_assertion = text.find("INTERNAL ASSERT FAILED") != std::string::npos;
  static const std::regex parts[] = {
      std::regex(R"(^.*INTERNAL ASSERT FAILED at "[^"]*":\d+, please report a bug to PyTorch\.\s*)"),
      std::regex(R"(^\[enforce fail at [^\]]*\]\s*\.?\s*)"),
      std::regex(R"(\s*\(Could this error message be improved\?.*$)"),
      std::regex(R"(\s*\(function operator\(\)\))"),
      std::regex(R"(^[IWEF]\d{4,8} \d\d:\d\d:\d\d\.\d+\s+\d+ [^\]]*\]\s*)"),  // of a log
      std::regex(R"((\s*\bat:?)?\s*\b0x[0-9a-fA-F]{4,}\b)")};
  for (const std::regex& part : parts) text = std::regex_replace(text, part, "");
  return text.empty() && is_assertion ? "an assertion within PyTorch fails" : text;
}

// Cuts long reasons at a space: some messages of PyTorch list all its backends.
std::string shortened(const std::string& text) {
  constexpr size_t kMost = 240;
  return text.size() <= kMost ? text : text.substr(0, text.rfind(' ', kMost)) + " ...";
}

}  // namespace

std::string torch_reason(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  const std::string text = torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
  const std::vector<std::string> lines = lines_of(text);
  if (lines.empty()) return "";
  if (text.find(kTrace) == std::string::npos) {
    const auto first = std::find_if(lines.begin(), lines.end(), [](const std::string& line) { return !line.empty(); });
    return first == lines.end() ? "" : shortened(without_internals(*first));
  }
  const auto named = std::find_if(lines.rbegin(), lines.rend(), names_error);
  const std::string& reason = named == lines.rend() ? lines.back() : *named;
  const bool is_plain = reason.rfind(kPlain, 0) == 0;
  return shortened(without_internals(is_plain ? reason.substr(std::char_traits<char>::length(kPlain)) : reason));
}

}  // namespace nnapi_convert
