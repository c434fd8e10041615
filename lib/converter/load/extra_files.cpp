// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/extra_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lib/base/error.h"
#include "lib/converter/graph/read_problem.h"
#include "lib/converter/load/archive_check.h"
#include "lib/format/attached_records.h"

namespace nnapi_convert {

std::vector<FolderFile> without_own_files(std::vector<FolderFile> files) {
  const auto is_own = [](const FolderFile& file) {
    return file.name.rfind("nnapi_convert", 0) == 0 || file.name.rfind("nnapi_shim", 0) == 0;
  };
  files.erase(std::remove_if(files.begin(), files.end(), is_own), files.end());
  return files;
}

std::vector<FolderFile> read_extra_files(ModelArchive& archive) {
  const std::string folder = "extra/";
  std::vector<FolderFile> files;
  for (const auto& [record, entry] : archive.records()) {
    const bool is_in = record.rfind(folder, 0) == 0 && record.size() > folder.size();
    if (is_in) files.push_back({record.substr(folder.size()), *archive.content(record)});
  }
  return without_own_files(std::move(files));
}

AttachedFiles read_attached(const std::string& path) {
  try {
    ModelArchive archive(path);
    const auto content = [&](const char* record) {
      return archive.has(record) ? *archive.content(record) : std::string();
    };
    return {content(kLabelsRecord), content(kNotesRecord), content(kOriginRecord), read_extra_files(archive)};
  } catch (const ConvertError&) {
    throw;
  } catch (const std::exception& error) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", path, read_problem(error)));
  }
}

}  // namespace nnapi_convert
