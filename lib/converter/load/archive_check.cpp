#include "lib/converter/load/archive_check.h"

#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>
#include <libdeflate.h>

#include <map>

#include "lib/base/error.h"
#include "lib/converter/archive/archive_file.h"
#include "lib/converter/load/archive_content.h"

namespace nnapi_convert {
namespace {

bool is_weight(const std::string& record) {
  return record.rfind("data/", 0) == 0 || record.rfind("constants/", 0) == 0;
}

// Deflate makes data at most 1,032 times smaller.
void check_size(const nnapi_shim::ZipRecord& entry) {
  constexpr uint64_t kMostDeflated = 1032;
  if (entry.bytes / kMostDeflated > entry.stored_bytes) {
    throw ConvertError(ExitCode::kBadFile,
                       fmt::format("{} bytes found that unpack to {}", entry.stored_bytes, entry.bytes));
  }
}

void check_record(const nnapi_shim::ZipRecord& entry, const std::string& record, const RecordSizes& sizes,
                  caffe2::serialize::PyTorchStreamReader& reader) {
  check_size(entry);
  if (is_weight(record)) return;
  const auto [data, size] = reader.getRecord(record);
  if (libdeflate_crc32(0, data.get(), size) != entry.checksum)
    throw ConvertError(ExitCode::kBadFile, "it has another checksum");
  check_content(record, {static_cast<const char*>(data.get()), size}, sizes);
}

// By their names without the archive's root folder, which is the first entry's. Others are not LibTorch's to read.
std::map<std::string, nnapi_shim::ZipRecord> records_of(const ArchiveFile& archive) {
  std::map<std::string, nnapi_shim::ZipRecord> records;
  if (archive.records().empty()) return records;
  const std::string& first = archive.records()[0].name;
  const std::string root = first.substr(0, first.find('/') + 1);
  for (const nnapi_shim::ZipRecord& entry : archive.records()) {
    if (entry.name.rfind(root, 0) == 0) records[entry.name.substr(root.size())] = entry;
  }
  return records;
}

// PyTorch 2 says it; files of before are little-endian.
void check_byte_order(const std::string& path, caffe2::serialize::PyTorchStreamReader& reader) {
  if (!reader.hasRecord("byteorder")) return;
  const auto [data, size] = reader.getRecord("byteorder");
  const std::string order(static_cast<const char*>(data.get()), size);
  if (order == "little") return;
  throw ConvertError(
      ExitCode::kBadFile,
      fmt::format("can't read {}: its weights are {}-endian, and phones need little-endian ones; load the "
                  "model with PyTorch 2 on a little-endian machine and save it there",
                  path, order == "big" ? "big" : "unknown"));
}

}  // namespace

void check_archive(const std::string& path) {
  const ArchiveFile archive(path);
  caffe2::serialize::PyTorchStreamReader reader(path);
  check_byte_order(path, reader);
  const std::map<std::string, nnapi_shim::ZipRecord> records = records_of(archive);
  RecordSizes sizes;
  for (const auto& [record, entry] : records) sizes[record] = entry.bytes;
  for (const auto& [record, entry] : records) {
    if (record.empty() || !reader.hasRecord(record)) continue;
    try {
      check_record(entry, record, sizes, reader);
    } catch (const NewerDtype& error) {
      throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", path, error.what()));
    } catch (const ConvertError& error) {
      throw ConvertError(ExitCode::kBadFile,
                         fmt::format("can't read {}: entry {} is damaged: {}", path, entry.name, error.what()));
    }
  }
}

}  // namespace nnapi_convert
