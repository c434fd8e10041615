// SPDX-License-Identifier: BSD-3-Clause
// nnapi-convert shim --emit DIR: writes the shim's sources, for an app that builds it itself.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>

#include "lib/base/counted.h"
#include "lib/base/files_apart.h"
#include "lib/base/folder.h"
#include "lib/converter/emit/shim_files.h"
#include "tools/nnapi-convert/command_line.h"
#include "tools/nnapi-convert/commands.h"
#include "tools/nnapi-convert/engine.h"

namespace nnapi_convert {
namespace {

constexpr const char* kShimDescription =
    R"(Writes the sources of the shim, the library that runs models made with --runtime shim: the core,
its C header, the binding for PyTorch, a CMakeLists.txt and a Gradle module.

Examples:
  nnapi-convert shim --emit nnapi_shim
  nnapi-convert shim --emit shim_of_out --from out.pt
  nnapi-convert shim --emit small_shim --for out.pt)";

// The file that lists the operators that the shim contains; without entries, it contains all operators of programs.
constexpr const char* kSelectedOperators = "lib/program/selected_operators.inc";

// Leaves out the operators that the files' programs don't call. Returns how many it keeps.
size_t select_operators(const std::vector<std::string>& archives, std::vector<FolderFile>* files) {
  std::set<std::string> names;
  for (const std::string& archive : archives) {
    const std::vector<std::string> called = engine().called_operators(archive);
    names.insert(called.begin(), called.end());
  }
  const auto list = std::find_if(files->begin(), files->end(),
                                 [](const FolderFile& file) { return file.name == kSelectedOperators; });
  list->text = "// The operators that the files of nnapi-convert shim --for call.\n#define PROGRAM_SELECTS_OPERATORS\n";
  for (const std::string& name : names) list->text += fmt::format("PROGRAM_SELECTED_OPERATOR(\"{}\")\n", name);
  return names.size();
}

FilesInUse files_read(const std::string& archive, const std::vector<std::string>& archives) {
  FilesInUse files = {{{"--from", archive}}, {}};
  for (const std::string& each : archives) files.read.push_back({"--for", each});
  return files;
}

FilesInUse with_written(FilesInUse files, const std::string& folder, const std::vector<FolderFile>& written) {
  files.written.push_back({"--emit", folder});
  for (const FolderFile& file : written) files.written.push_back({"--emit", std::filesystem::path(folder) / file.name});
  return files;
}

const ExitCodes kShimExitCodes = {{"0", "done"},
                                  {"2", "wrong command line"},
                                  {"3", "a file can't be read or written, or is malformed"},
                                  {"70", "internal error"},
                                  {"75", "memory, stack or time is not enough"}};

}  // namespace

int run_shim(const Arguments& command_line) {
  std::string folder, archive;
  std::vector<std::string> archives;
  bool may_replace = false;
  CLI::App app(kShimDescription, "nnapi-convert shim");
  app.add_option("--emit", folder, "folder to write, which is new or empty")->required()->type_name("DIR");
  app.add_option("--from", archive,
                 "the sources that a model carries (convert with --embed-shim-source), not this program's own")
      ->type_name("OUT");
  app.add_option("--for", archives,
                 "leave out operators of programs that these files, of --runtime shim, don't call: the library is "
                 "smaller, and refuses files that call others")
      ->type_name("OUT")
      ->excludes("--from");
  app.add_flag("--force", may_replace, "write into a folder that is not empty: replaces files of the same names");
  add_log_options(app);
  if (const auto code = parse_command_line(app, command_line, kShimExitCodes)) return *code;
  refuse_standard_output("--emit", folder);
  const FilesInUse read = files_read(archive, archives);
  check_files(read);
  std::vector<FolderFile> files = app.count("--from") != 0 ? engine().read_shim_source(archive) : shim_files();
  std::string selection;
  if (!archives.empty()) selection = fmt::format(", with {}", counted(select_operators(archives, &files), "operator"));
  check_files_apart(with_written(read, folder, files));
  write_folder(folder, files, may_replace);
  if (spdlog::should_log(spdlog::level::warn)) {
    std::cout << fmt::format("{}: {}{}; next: {}/README.md\n", folder, counted(files.size(), "file"), selection,
                             folder);
  }
  return 0;
}

}  // namespace nnapi_convert
