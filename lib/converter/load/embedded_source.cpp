// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/embedded_source.h"

#include <fmt/format.h>

#include "lib/base/error.h"
#include "lib/converter/graph/read_problem.h"
#include "lib/converter/load/archive_check.h"
#include "lib/converter/load/archive_writer.h"
#include "lib/converter/load/load.h"

namespace nnapi_convert {
namespace {

std::vector<FolderFile> read_files(ModelArchive& archive) {
  const std::string folder = kShimSourceFolder;
  std::vector<FolderFile> files;
  for (const auto& [record, entry] : archive.records()) {
    if (record.rfind(folder, 0) == 0) files.push_back({record.substr(folder.size()), *archive.content(record)});
  }
  return files;
}

}  // namespace

std::vector<FolderFile> read_shim_source(const std::string& path) {
  check_is_archive(path);
  std::vector<FolderFile> files;
  try {
    ModelArchive archive(path);
    check_archive(archive, WeightReading::kIgnored);
    files = read_files(archive);
  } catch (const ConvertError&) {
    throw;
  } catch (const std::exception& error) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", path, read_problem(error)));
  }
  if (files.empty()) {
    throw ConvertError(ExitCode::kBadFile,
                       fmt::format("{} carries no sources of the shim; convert the model with --embed-shim-source, or "
                                   "leave out --from for the sources of this program",
                                   path));
  }
  for (const FolderFile& file : files) {
    if (is_plain_name(file.name)) continue;
    throw ConvertError(ExitCode::kBadFile,
                       fmt::format("can't read {}: '{}' among its sources is not the name of a file within a folder",
                                   path, file.name));
  }
  return files;
}

}  // namespace nnapi_convert
