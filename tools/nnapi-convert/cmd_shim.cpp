// SPDX-License-Identifier: BSD-3-Clause
// nnapi-convert shim --emit DIR: writes the shim's sources, for an app that builds it itself.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <filesystem>

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
  nnapi-convert shim --emit shim_of_out --from out.pt)";

FilesInUse files_of(const std::string& folder, const std::vector<FolderFile>& written, const std::string& archive) {
  FilesInUse files = {{{"--from", archive}}, {{"--emit", folder}}};
  for (const FolderFile& file : written) files.written.push_back({"--emit", std::filesystem::path(folder) / file.name});
  return files;
}

const ExitCodes kShimExitCodes = {{"0", "done"},
                                  {"2", "wrong command line"},
                                  {"3", "a file can't be read or written, or is malformed"},
                                  {"70", "internal error"}};

}  // namespace

int run_shim(const Arguments& command_line) {
  std::string folder, archive;
  bool may_replace = false;
  CLI::App app(kShimDescription, "nnapi-convert shim");
  app.add_option("--emit", folder, "folder to write, which is new or empty")->required()->type_name("DIR");
  app.add_option("--from", archive,
                 "the sources that a model carries (convert with --embed-shim-source), not this program's own")
      ->type_name("OUT");
  app.add_flag("--force", may_replace, "write into a folder that is not empty: replaces files of the same names");
  add_log_options(app);
  if (const auto code = parse_command_line(app, command_line, kShimExitCodes)) return *code;
  refuse_standard_output("--emit", folder);
  const std::vector<FolderFile> files = app.count("--from") != 0 ? engine().read_shim_source(archive) : shim_files();
  check_files_apart(files_of(folder, files, archive));
  write_folder(folder, files, may_replace);
  spdlog::info("wrote {} to {}", counted(files.size(), "file"), folder);
  return 0;
}

}  // namespace nnapi_convert
