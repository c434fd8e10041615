// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/archive_check.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <memory>

#include "lib/base/error.h"
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

void check_record(ModelArchive& archive, const std::string& record, const RecordSizes& sizes) {
  const nnapi_shim::ZipRecord& entry = archive.records().at(record);
  check_size(entry);
  if (is_weight(record)) return;
  const std::shared_ptr<const std::string> content = archive.content(record);
  if (libdeflate_crc32(0, content->data(), content->size()) != entry.checksum)
    throw ConvertError(ExitCode::kBadFile, "it has another checksum");
  check_content(record, *content, sizes);
}

// PyTorch 2 says it; files of before are little-endian.
void check_byte_order(ModelArchive& archive) {
  if (!archive.has("byteorder")) return;
  const std::string order = *archive.content("byteorder");
  if (order == "little") return;
  throw ConvertError(
      ExitCode::kBadFile,
      fmt::format("can't read {}: its weights are {}-endian, and phones need little-endian ones; load the "
                  "model with PyTorch 2 on a little-endian machine and save it there",
                  archive.path(), order == "big" ? "big" : "unknown"));
}

}  // namespace

void check_archive(ModelArchive& archive) {
  check_byte_order(archive);
  RecordSizes sizes;
  for (const auto& [record, entry] : archive.records()) sizes[record] = entry.bytes;
  for (const auto& [record, entry] : archive.records()) {
    if (record.empty() || !archive.reader().hasRecord(record)) continue;
    try {
      check_record(archive, record, sizes);
    } catch (const NewerDtype& error) {
      throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", archive.path(), error.what()));
    } catch (const ConvertError& error) {
      throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: entry {} is damaged: {}", archive.path(),
                                                         entry.name, error.what()));
    }
  }
}

}  // namespace nnapi_convert
