// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/archive_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <libdeflate.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <new>
#include <set>
#include <string_view>

#include "lib/base/begins_with.h"
#include "lib/base/damaged_file.h"
#include "lib/base/error.h"

namespace nnapi_convert {
namespace {

// Returns the unpacked bytes. Throws DamagedFile if they don't have this size; deflate makes data at most 1,032 times
// smaller.
std::string unpacked(const std::string& packed, uint64_t size) {
  constexpr uint64_t kMostDeflated = 1032;
  if (size / kMostDeflated > packed.size()) {
    throw DamagedFile(fmt::format("{} bytes found that unpack to {}", packed.size(), size));
  }
  std::string bytes(static_cast<size_t>(size), '\0');
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> unpacker(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (unpacker == nullptr) throw std::bad_alloc();
  if (libdeflate_deflate_decompress(unpacker.get(), packed.data(), packed.size(), bytes.data(), bytes.size(),
                                    nullptr) != LIBDEFLATE_SUCCESS) {
    throw DamagedFile(fmt::format("{} bytes found that don't unpack to {}", packed.size(), size));
  }
  return bytes;
}

}  // namespace

ArchiveFile::ArchiveFile(const std::string& path) : path_(path) {
  file_.path = path_.c_str();
  file_.fd = ::open(file_.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  if (file_.fd < 0 || ::fstat(file_.fd, &status) != 0) return;
  file_.bytes = static_cast<uint64_t>(status.st_size);
  read_directory();
}

ArchiveFile::ArchiveFile(const std::string& path, uint64_t begin, uint64_t bytes) : path_(path) {
  file_.path = path_.c_str();
  file_.fd = ::open(file_.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file_.fd < 0) return;
  file_.begin = begin;
  file_.bytes = bytes;
  read_directory();
}

void ArchiveFile::read_directory() {
  nnapi_shim_error ignored;
  if (nnapi_shim::read_zip_directory(file_, &records_, &ignored) != NNAPI_SHIM_OK) records_.clear();
}

ArchiveFile::~ArchiveFile() {
  if (file_.fd >= 0) ::close(file_.fd);
}

std::optional<uint64_t> ArchiveFile::data_begin(const nnapi_shim::ZipRecord& record) const {
  uint64_t begin = 0;
  nnapi_shim_error ignored;
  if (nnapi_shim::find_record_data(file_, record, &begin, &ignored) != NNAPI_SHIM_OK) return std::nullopt;
  return begin;
}

std::string ArchiveFile::checksum_problem(const nnapi_shim::ZipRecord& record) const {
  return fmt::format("can't read {}: entry {} is damaged: {}", path_, record.name, kOtherChecksum);
}

std::string ArchiveFile::content(const nnapi_shim::ZipRecord& record) const {
  constexpr uint16_t kEncrypted = 1, kDeflated = 8;
  if ((record.flags & kEncrypted) != 0) throw ConvertError(ExitCode::kBadFile, "it is encrypted");
  if (record.method != 0 && record.method != kDeflated) {
    throw ConvertError(ExitCode::kBadFile,
                       fmt::format("it is packed by method {}, deflate alone is read", record.method));
  }
  const auto begin = record.method == 0 ? data_begin(record) : packed_begin(record);
  std::string packed(begin ? static_cast<size_t>(record.stored_bytes) : 0, '\0');
  if (!begin || !nnapi_shim::read_at(file_, *begin, packed.data(), packed.size())) {
    throw DamagedFile("its header contradicts the list of entries, or its bytes are not all there");
  }
  std::string bytes = record.method == 0 ? std::move(packed) : unpacked(packed, record.bytes);
  if (has_checksum(record) && libdeflate_crc32(0, bytes.data(), bytes.size()) != record.checksum) {
    throw DamagedFile(kOtherChecksum);
  }
  return bytes;
}

std::optional<uint64_t> ArchiveFile::packed_begin(const nnapi_shim::ZipRecord& record) const {
  constexpr size_t kHeaderBytes = 30, kNameBytes = 26, kExtraBytes = 28;
  constexpr std::string_view kSignature("PK\x03\x04", 4);
  std::string header(kHeaderBytes, '\0');
  if (!nnapi_shim::read_at(file_, record.offset, header.data(), header.size())) return std::nullopt;
  const auto number = [&](size_t at) {
    return uint64_t{static_cast<uint8_t>(header[at])} | uint64_t{static_cast<uint8_t>(header[at + 1])} << 8;
  };
  const uint64_t begin = record.offset + kHeaderBytes + number(kNameBytes) + number(kExtraBytes);
  const bool is_inside = begin <= file_.bytes && record.stored_bytes <= file_.bytes - begin;
  return begins_with(header, kSignature) && is_inside ? std::optional(begin) : std::nullopt;
}

void ArchiveFile::check_records() const {
  struct Place {
    uint64_t begin, end;
    const std::string* name;
  };
  std::set<std::string> names;
  std::vector<Place> places;
  for (const nnapi_shim::ZipRecord& record : records_) {
    if (!names.insert(record.name).second) {
      throw ConvertError(ExitCode::kBadFile, fmt::format("two entries named {} found", record.name));
    }
    const auto begin = data_begin(record);
    places.push_back({record.offset, begin ? *begin + record.bytes : record.offset + 1, &record.name});
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < places.size(); ++i) {
    if (places[i].begin >= places[i - 1].end) continue;
    throw ConvertError(ExitCode::kBadFile,
                       fmt::format("entries {} and {} overlap", *places[i - 1].name, *places[i].name));
  }
}

}  // namespace nnapi_convert
