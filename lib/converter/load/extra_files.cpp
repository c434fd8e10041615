#include "lib/converter/load/extra_files.h"

#include <fmt/format.h>

#include "lib/base/error.h"
#include "lib/converter/graph/read_problem.h"
#include "lib/converter/load/archive_check.h"
#include "lib/format/attached_records.h"

namespace nnapi_convert {

std::vector<FolderFile> read_extra_files(ModelArchive& archive) {
  const std::string folder = "extra/";
  std::vector<FolderFile> files;
  for (const auto& [record, entry] : archive.records()) {
    if (record.rfind(folder, 0) != 0) continue;
    const std::string name = record.substr(folder.size());
    // What this program wrote belongs to the conversion that made the archive.
    if (name.empty() || name.rfind("nnapi_convert", 0) == 0 || name.rfind("nnapi_shim", 0) == 0) continue;
    files.push_back({name, *archive.content(record)});
  }
  return files;
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
    throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}{}", path, read_problem(error)));
  }
}

}  // namespace nnapi_convert
