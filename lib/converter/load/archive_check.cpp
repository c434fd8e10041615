// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/archive_check.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "lib/base/damaged_file.h"
#include "lib/base/error.h"
#include "lib/converter/load/archive_content.h"
#include "lib/types/mapped_memory.h"

namespace nnapi_convert {
namespace {

bool is_weight(const std::string& record) {
  return record.rfind("data/", 0) == 0 || record.rfind("constants/", 0) == 0;
}

bool is_code(const std::string& record) {
  constexpr std::string_view kEnding = ".py";
  return record.size() > kEnding.size() && record.compare(record.size() - kEnding.size(), kEnding.size(), kEnding) == 0;
}

// Refuses a size that is too large, or impossible: deflate makes data at most 1,032 times smaller.
void check_size(const std::string& record, const nnapi_shim::ZipRecord& entry) {
  constexpr uint64_t kMostDeflated = 1032, kMostCode = uint64_t{32} << 20, kMostUnpacked = uint64_t{256} << 20;
  if (entry.bytes / kMostDeflated > entry.stored_bytes) {
    throw DamagedFile(fmt::format("{} bytes found that unpack to {}", entry.stored_bytes, entry.bytes));
  }
  const bool is_packed = entry.bytes > entry.stored_bytes;
  const uint64_t most = is_code(record) ? kMostCode : is_packed && !is_weight(record) ? kMostUnpacked : UINT64_MAX;
  if (entry.bytes <= most) return;
  throw ConvertError(ExitCode::kBadFile, fmt::format("it unpacks to {} bytes of {}, and at most {} are read",
                                                     entry.bytes, is_code(record) ? "code" : "data", most));
}

// Returns the checksum of a weight's bytes. Reads them in pieces where they lie in the file uncompressed.
uint32_t weight_checksum(ModelArchive& archive, const std::string& record, const nnapi_shim::ZipRecord& entry) {
  constexpr uint64_t kPieceBytes = uint64_t{1} << 18;
  const std::optional<uint64_t> begin = archive.file().data_begin(entry);
  if (!begin) {
    const std::shared_ptr<const std::string> content = archive.content(record);
    return libdeflate_crc32(0, content->data(), content->size());
  }
  std::vector<char> piece(static_cast<size_t>(std::min(kPieceBytes, entry.bytes)));
  uint32_t checksum = 0;
  for (uint64_t done = 0; done < entry.bytes; done += piece.size()) {
    piece.resize(static_cast<size_t>(std::min(kPieceBytes, entry.bytes - done)));
    if (!nnapi_shim::read_at(archive.file().file(), *begin + done, piece.data(), piece.size())) {
      throw ConvertError(ExitCode::kBadFile, "the system can't read it");
    }
    checksum = libdeflate_crc32(checksum, piece.data(), piece.size());
  }
  return checksum;
}

// Checks a weight's checksum, if there is one: archives may be written without, and the field is then 0.
void check_weight(ModelArchive& archive, const std::string& record, WeightReading weights) {
  const nnapi_shim::ZipRecord& entry = archive.records().at(record);
  if (weights == WeightReading::kIgnored || !ArchiveFile::has_checksum(entry)) return;
  const std::optional<uint64_t> begin = archive.file().data_begin(entry);
  if (weights == WeightReading::kLater && begin && can_map(*begin, entry.bytes)) return;
  if (weight_checksum(archive, record, entry) != entry.checksum) throw DamagedFile(kOtherChecksum);
}

void check_record(ModelArchive& archive, const std::string& record, const RecordSizes& sizes, WeightReading weights) {
  const nnapi_shim::ZipRecord& entry = archive.records().at(record);
  check_size(record, entry);
  if (is_weight(record)) return check_weight(archive, record, weights);
  const std::shared_ptr<const std::string> content = archive.content(record);
  if (libdeflate_crc32(0, content->data(), content->size()) != entry.checksum) throw DamagedFile(kOtherChecksum);
  check_content(record, *content, sizes);
}

// Refuses big-endian files. PyTorch 2 states the order; files of older releases are little-endian.
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

void check_archive(ModelArchive& archive, WeightReading weights) {
  check_byte_order(archive);
  RecordSizes sizes;
  for (const auto& [record, entry] : archive.records()) sizes[record] = entry.bytes;
  for (const auto& [record, entry] : archive.records()) {
    if (record.empty() || !archive.reader().hasRecord(record)) continue;
    try {
      check_record(archive, record, sizes, weights);
    } catch (const NewerDtype& error) {
      throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", archive.path(), error.what()));
    } catch (const ConvertError& error) {
      throw ConvertError(ExitCode::kBadFile,
                         fmt::format("can't read {}: entry {} {}", archive.path(), entry.name, damage_or_limit(error)));
    }
  }
}

}  // namespace nnapi_convert
