#include "lib/converter/load/embedded_source.h"

#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>

#include "lib/base/error.h"
#include "lib/converter/archive/archive_writer.h"
#include "lib/converter/load/archive_check.h"
#include "lib/converter/load/load.h"

namespace nnapi_convert {
namespace {

std::vector<FolderFile> read_files(const std::string& path) {
  const std::string folder = kShimSourceFolder;
  caffe2::serialize::PyTorchStreamReader reader(path);
  std::vector<FolderFile> files;
  for (const std::string& record : reader.getAllRecords()) {
    if (record.rfind(folder, 0) != 0) continue;
    const auto [data, size] = reader.getRecord(record);
    files.push_back({record.substr(folder.size()), std::string(static_cast<const char*>(data.get()), size)});
  }
  return files;
}

}  // namespace

std::vector<FolderFile> read_shim_source(const std::string& path) {
  check_is_archive(path);
  std::vector<FolderFile> files;
  try {
    check_archive(path);
    files = read_files(path);
  } catch (const ConvertError&) {
    throw;
  } catch (const std::exception& error) {
    throw ConvertError(ExitCode::kBadFile,
                       fmt::format("can't read {}: not an archive, or a damaged one: {}", path, first_line(error)));
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
