// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/cut_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

namespace nnapi_convert {
namespace {

// Sizes, signatures and fields of APPNOTE.TXT, 4.3.7 to 4.3.16.
constexpr uint32_t kLocal = 0x04034b50, kDescriptor = 0x08074b50, kCentral = 0x02014b50, kEnd = 0x06054b50,
                   kWideLocator = 0x07064b50;
constexpr uint64_t kLocalBytes = 30, kDescriptorBytes = 16, kWideDescriptorBytes = 24, kEndBytes = 22,
                   kWideEndBytes = 56, kWideLocatorBytes = 20;
constexpr uint64_t kMostComment = 0xFFFF;
constexpr uint16_t kSizesFollow = 8;

// Reads little-endian numbers at places of the file; 0 behind its end.
class Numbers {
 public:
  explicit Numbers(const nnapi_shim::ZipFile& file) : file_(file) {}

  uint64_t at(uint64_t place, size_t width) const {
    uint8_t bytes[sizeof(uint64_t)] = {};
    if (!nnapi_shim::read_at(file_, place, bytes, width)) return 0;
    uint64_t number = 0;
    for (size_t i = width; i-- > 0;) number = number << 8 | bytes[i];
    return number;
  }

 private:
  const nnapi_shim::ZipFile& file_;
};

// Returns the place behind the descriptor of the entry whose bytes begin at `begin`: the descriptor repeats their
// number. Nothing if there is none.
std::optional<uint64_t> descriptor_end(const nnapi_shim::ZipFile& file, uint64_t begin) {
  constexpr uint64_t kPieceBytes = uint64_t{1} << 18;
  const Numbers numbers(file);
  std::vector<char> piece;
  for (uint64_t place = begin; place < file.bytes; place += kPieceBytes) {
    // A descriptor may lie across two pieces.
    piece.resize(static_cast<size_t>(std::min(kPieceBytes + kDescriptorBytes, file.bytes - place)));
    if (!nnapi_shim::read_at(file, place, piece.data(), piece.size())) return std::nullopt;
    constexpr char kMark[] = {'P', 'K', '\x07', '\x08'};
    for (auto found = piece.begin();; ++found) {
      found = std::search(found, piece.end(), std::begin(kMark), std::end(kMark));
      if (found == piece.end()) break;
      const uint64_t at = place + static_cast<uint64_t>(found - piece.begin()), bytes = at - begin;
      if (numbers.at(at + 8, 4) == bytes && at + kDescriptorBytes <= file.bytes) return at + kDescriptorBytes;
      if (bytes > UINT32_MAX && numbers.at(at + 8, 8) == bytes) return at + kWideDescriptorBytes;
    }
  }
  return std::nullopt;
}

// An entry of the archive, read from its header on.
struct CutEntry {
  std::string name;
  uint64_t begin = 0;                   // place of its bytes
  std::optional<uint64_t> needed = {};  // the file's bytes up to the entry's end, where the header tells
  std::optional<uint64_t> end = {};     // nothing if the entry isn't whole
};

CutEntry entry_at(const nnapi_shim::ZipFile& file, uint64_t place) {
  const Numbers numbers(file);
  CutEntry entry;
  const uint64_t flags = numbers.at(place + 6, 2), bytes = numbers.at(place + 18, 4);
  const uint64_t name_bytes = numbers.at(place + 26, 2), extra_bytes = numbers.at(place + 28, 2);
  entry.name.resize(static_cast<size_t>(name_bytes));
  if (!nnapi_shim::read_at(file, place + kLocalBytes, entry.name.data(), entry.name.size())) entry.name.clear();
  entry.begin = place + kLocalBytes + name_bytes + extra_bytes;
  if ((flags & kSizesFollow) != 0 && bytes == 0) {
    if (entry.begin <= file.bytes) entry.end = descriptor_end(file, entry.begin);
  } else if (bytes != UINT32_MAX) {
    entry.needed = entry.begin + bytes;
    if (*entry.needed <= file.bytes) entry.end = entry.needed;
  }
  return entry;
}

// Returns the file's size by the record that ends an archive; nothing without such a record.
std::optional<uint64_t> stated_size(const nnapi_shim::ZipFile& file) {
  const Numbers numbers(file);
  const uint64_t first = file.bytes < kEndBytes ? 0 : file.bytes - std::min(file.bytes, kEndBytes + kMostComment);
  std::string tail(static_cast<size_t>(file.bytes - first), '\0');
  if (!nnapi_shim::read_at(file, first, tail.data(), tail.size())) return std::nullopt;
  const size_t found = tail.rfind(std::string("PK\x05\x06", 4));
  if (found == std::string::npos || first + found + kEndBytes > file.bytes) return std::nullopt;
  const uint64_t at = first + found, directory = numbers.at(at + 12, 4), offset = numbers.at(at + 16, 4);
  const uint64_t comment = numbers.at(at + 20, 2);
  if (offset == UINT32_MAX) return std::nullopt;
  const bool is_wide = at >= kWideLocatorBytes && numbers.at(at - kWideLocatorBytes, 4) == kWideLocator;
  const uint64_t wide = is_wide ? kWideEndBytes + kWideLocatorBytes : 0;
  return offset + directory + wide + (file.bytes - at) + (at + kEndBytes + comment > file.bytes ? comment : 0);
}

}  // namespace

std::string what_is_left(const nnapi_shim::ZipFile& file) {
  const Numbers numbers(file);
  size_t whole = 0;
  uint64_t place = 0;
  CutEntry cut;
  while (numbers.at(place, 4) == kLocal) {
    cut = entry_at(file, place);
    if (!cut.end) break;
    // An entry whose size is known may have a descriptor all the same.
    place = *cut.end + (numbers.at(*cut.end, 4) == kDescriptor ? kDescriptorBytes : 0);
    ++whole;
  }
  const std::string entries = fmt::format("{} whole {}", whole, whole == 1 ? "entry" : "entries");
  const auto stated = stated_size(file);
  if (stated && *stated != file.bytes) {
    return fmt::format(
        "it is damaged: {} bytes found, and its list of entries is of a file of {} bytes; {} at its beginning",
        file.bytes, *stated, entries);
  }
  if (numbers.at(place, 4) == kLocal) {
    return fmt::format("it is damaged: it breaks off within {}: {} bytes found, {} needed; {} before it",
                       cut.name.empty() ? "an entry's header" : "entry " + cut.name, file.bytes,
                       cut.needed ? fmt::format("at least {}", *cut.needed)
                                  : fmt::format("more than {}", std::max(file.bytes, cut.begin)),
                       entries);
  }
  if (stated) return "its list of entries is not read: it has more than 64 MiB, or is of several volumes";
  const uint64_t next = numbers.at(place, 4);
  const char* what =
      next == kCentral || next == kEnd ? "its list of entries breaks off" : "its list of entries is missing";
  return fmt::format("it is damaged: {} bytes found: {} up to byte {}, and {}", file.bytes, entries, place, what);
}

}  // namespace nnapi_convert
