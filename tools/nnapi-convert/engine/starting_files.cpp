// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/engine/starting_files.h"

#include <filesystem>
#include <optional>

#include "lib/converter/report/starting_code.h"

namespace nnapi_convert {
namespace {

namespace fs = std::filesystem;

CodedPaths paths_from(const fs::path& script, const ConvertArguments& arguments) {
  const fs::path folder = fs::absolute(script).parent_path();
  const auto relative = [&](const std::string& path) { return fs::proximate(fs::absolute(path), folder).string(); };
  CodedPaths paths{relative(arguments.model), relative(arguments.shown_output()), {}};
  for (const std::string& library : arguments.torch_libraries) {
    const bool is_path = library.find('/') != std::string::npos;  // the system's loader looks up other names
    paths.torch_libraries.push_back(is_path ? "./" + relative(library) : library);
  }
  return paths;
}

}  // namespace

void add_starting_code(PendingTexts& texts, const ConvertArguments& arguments, const std::string& written) {
  const std::string &python = arguments.python_code, &kotlin = arguments.kotlin_code;
  if (python.empty() && kotlin.empty()) return;
  const std::optional<CodedFile> file = written.empty() ? std::nullopt : std::optional(coded_file(written));
  if (!python.empty()) texts.add(python, python_code(file, paths_from(python, arguments), NNAPI_CONVERT_VERSION));
  if (kotlin.empty()) return;
  const std::string asset = fs::path(arguments.output).filename().string();
  texts.add(kotlin, kotlin_code(*file, asset, NNAPI_CONVERT_VERSION));
}

}  // namespace nnapi_convert
