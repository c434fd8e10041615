#include "lib/converter/archive_check.h"

#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>
#include <libdeflate.h>

#include "lib/base/error.h"
#include "lib/converter/archive_file.h"

namespace nnapi_convert {
namespace {

bool is_weight(const std::string& record) {
  return record.rfind("data/", 0) == 0 || record.rfind("constants/", 0) == 0;
}

// Records leave out the archive's root folder.
bool is_entry_of(const std::string& entry, const std::string& record) {
  return entry.size() > record.size() && entry[entry.size() - record.size() - 1] == '/' &&
         entry.compare(entry.size() - record.size(), record.size(), record) == 0;
}

}  // namespace

void check_archive(const std::string& path) {
  const ArchiveFile archive(path);
  caffe2::serialize::PyTorchStreamReader reader(path);
  for (const std::string& record : reader.getAllRecords()) {
    if (is_weight(record)) continue;
    const auto [data, size] = reader.getRecord(record);
    const uint32_t found = libdeflate_crc32(0, data.get(), size);
    for (const nnapi_shim::ZipRecord& entry : archive.records()) {
      if (is_entry_of(entry.name, record) && found != entry.checksum) {
        throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: entry {} is damaged", path, entry.name));
      }
    }
  }
}

}  // namespace nnapi_convert
