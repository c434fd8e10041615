// SPDX-License-Identifier: BSD-3-Clause
// Makes off_t 64 bits wide on 32-bit systems, too.
#define _FILE_OFFSET_BITS 64

#include "lib/shim/zip_directory.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lib/shim/failure.h"

namespace nnapi_shim {
namespace {

// Sizes and signatures of APPNOTE.TXT, sections 4.3.7 to 4.3.16.
constexpr uint32_t kLocalSignature = 0x04034b50, kCentralSignature = 0x02014b50, kEndSignature = 0x06054b50,
                   kEnd64Signature = 0x06064b50, kLocator64Signature = 0x07064b50;
constexpr size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20;
constexpr size_t kMaxComment = 0xFFFF;
constexpr uint64_t kMaxDirectoryBytes = 1 << 26;  // the directory of about half a million records
static_assert(sizeof(off_t) == sizeof(int64_t), "a header before this file's first line chose the size of off_t");
constexpr uint16_t kExtra64 = 1;
constexpr uint16_t kEncrypted = 1;
constexpr uint32_t kFull32 = 0xFFFFFFFF;  // the number stands in the ZIP64 fields

uint16_t get16(const uint8_t* bytes) {
  return static_cast<uint16_t>(bytes[0] | bytes[1] << 8);
}
uint32_t get32(const uint8_t* bytes) {
  return get16(bytes) | static_cast<uint32_t>(get16(bytes + 2)) << 16;
}
uint64_t get64(const uint8_t* bytes) {
  return get32(bytes) | static_cast<uint64_t>(get32(bytes + 4)) << 32;
}

struct Directory {
  uint64_t offset = 0, bytes = 0, count = 0;
  uint64_t limit = 0;  // the offset of the record after the directory
};

class DirectoryReader {
 public:
  DirectoryReader(const ZipFile& file, nnapi_shim_error* error) : file_(file), error_(error) {}

  bool read(std::vector<ZipRecord>* records) {
    Directory directory;
    if (!find_end(&directory)) return false;
    if (directory.offset > directory.limit || directory.bytes > directory.limit - directory.offset) {
      return refuse("its directory does not lie before its end");
    }
    if (directory.bytes > kMaxDirectoryBytes) return refuse("its directory has more than 67108864 bytes");
    if (directory.count > directory.bytes / kCentralBytes) {
      return refuse("its directory is too short for its number of records");
    }
    std::vector<uint8_t> bytes(static_cast<size_t>(directory.bytes));
    if (!read_at(file_, directory.offset, bytes.data(), bytes.size())) return refuse("its directory can't be read");
    records->reserve(static_cast<size_t>(directory.count));
    size_t at = 0;
    for (uint64_t i = 0; i < directory.count; ++i) {
      records->emplace_back();
      if (!read_record(bytes, &at, &records->back())) return false;
    }
    return at == bytes.size() || refuse("its directory is longer than its records");
  }

 private:
  bool refuse(const char* problem) const {
    fail(error_, NNAPI_SHIM_BAD_MODEL, "%s is no archive or damaged: %s; copy or convert the model again", file_.path,
         problem);
    return false;
  }

  // Finds the end record: the last record that, with its comment, ends exactly at the file's end.
  bool find_end(Directory* directory) const {
    if (file_.bytes < kEndBytes) return refuse("it is shorter than any archive");
    std::vector<uint8_t> tail(static_cast<size_t>(std::min<uint64_t>(file_.bytes, kEndBytes + kMaxComment)));
    if (!read_at(file_, file_.bytes - tail.size(), tail.data(), tail.size())) return refuse("its end can't be read");
    for (size_t at = tail.size() - kEndBytes + 1; at-- > 0;) {
      const uint8_t* end = tail.data() + at;
      if (get32(end) != kEndSignature || at + kEndBytes + get16(end + 20) != tail.size()) continue;
      return read_end(end, file_.bytes - tail.size() + at, directory);
    }
    return refuse("it does not end as zip files do");
  }

  bool read_end(const uint8_t* end, uint64_t offset, Directory* directory) const {
    directory->count = get16(end + 10);
    directory->bytes = get32(end + 12);
    directory->offset = get32(end + 16);
    directory->limit = offset;
    uint8_t locator[kLocator64Bytes];
    if (offset >= kLocator64Bytes && read_at(file_, offset - kLocator64Bytes, locator, sizeof locator) &&
        get32(locator) == kLocator64Signature) {
      return read_end64(locator, offset - kLocator64Bytes, directory);
    }
    if (get16(end + 4) != 0 || get16(end + 6) != 0 || get16(end + 8) != directory->count) {
      return refuse("it has several volumes");
    }
    return true;
  }

  bool read_end64(const uint8_t* locator, uint64_t limit, Directory* directory) const {
    const uint64_t offset = get64(locator + 8);
    uint8_t end[kEnd64Bytes];
    if (limit < kEnd64Bytes || offset > limit - kEnd64Bytes || !read_at(file_, offset, end, sizeof end) ||
        get32(end) != kEnd64Signature) {
      return refuse("its ZIP64 end is not where it should be");
    }
    directory->count = get64(end + 32);
    directory->bytes = get64(end + 40);
    directory->offset = get64(end + 48);
    directory->limit = offset;
    if (get32(locator + 4) != 0 || get32(locator + 16) > 1 || get32(end + 16) != 0 || get32(end + 20) != 0 ||
        get64(end + 24) != directory->count) {
      return refuse("it has several volumes");
    }
    return true;
  }

  bool read_record(const std::vector<uint8_t>& bytes, size_t* at, ZipRecord* record) const {
    if (bytes.size() - *at < kCentralBytes) return refuse("its directory ends within a record");
    const uint8_t* central = bytes.data() + *at;
    const size_t name_bytes = get16(central + 28), extra_bytes = get16(central + 30);
    const size_t record_bytes = kCentralBytes + name_bytes + extra_bytes + get16(central + 32);
    if (get32(central) != kCentralSignature) return refuse("its directory has something that is no record");
    if (bytes.size() - *at < record_bytes) return refuse("its directory ends within a record");
    record->flags = get16(central + 8);
    record->method = get16(central + 10);
    record->checksum = get32(central + 16);
    record->stored_bytes = get32(central + 20);
    record->bytes = get32(central + 24);
    record->offset = get32(central + 42);
    record->name.assign(reinterpret_cast<const char*>(central) + kCentralBytes, name_bytes);
    *at += record_bytes;
    return read_extra(central + kCentralBytes + name_bytes, extra_bytes, record);
  }

  // The ZIP64 field holds, in the order of `numbers`, the numbers that are kFull32 in the record.
  bool read_extra(const uint8_t* extra, size_t bytes, ZipRecord* record) const {
    uint64_t* const numbers[] = {&record->bytes, &record->stored_bytes, &record->offset};
    while (bytes >= 4) {
      const size_t field_bytes = get16(extra + 2);
      if (field_bytes > bytes - 4) return refuse("an extra field in its directory is cut off");
      if (get16(extra) == kExtra64) {
        size_t at = 0;
        for (uint64_t* number : numbers) {
          if (*number != kFull32) continue;
          if (field_bytes - at < 8) return refuse("a ZIP64 field in its directory is too short");
          *number = get64(extra + 4 + at);
          at += 8;
        }
        return true;
      }
      extra += 4 + field_bytes;
      bytes -= 4 + field_bytes;
    }
    return true;
  }

  const ZipFile& file_;
  nnapi_shim_error* error_;
};

// Returns whether a size in the local header equals the directory's. With `follows`, 0 means that the size follows the
// data.
bool is_size(uint32_t local, uint64_t bytes, bool follows) {
  return local == bytes || local == kFull32 || (follows && local == 0);
}

}  // namespace

bool read_at(const ZipFile& file, uint64_t offset, void* data, size_t bytes) {
  if (offset > file.bytes || bytes > file.bytes - offset) return false;
  auto* to = static_cast<uint8_t*>(data);
  if (file.memory != nullptr) {
    if (bytes != 0) std::memcpy(to, file.memory + offset, bytes);
    return true;
  }
  while (bytes != 0) {
    const ssize_t count = ::pread(file.fd, to, bytes, static_cast<off_t>(file.begin + offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    to += count;
    offset += static_cast<uint64_t>(count);
    bytes -= static_cast<size_t>(count);
  }
  return true;
}

int read_zip_directory(const ZipFile& file, std::vector<ZipRecord>* records, nnapi_shim_error* error) {
  return DirectoryReader(file, error).read(records) ? NNAPI_SHIM_OK : NNAPI_SHIM_BAD_MODEL;
}

int find_record_data(const ZipFile& file, const ZipRecord& record, uint64_t* offset, nnapi_shim_error* error) {
  const auto refuse = [&](const char* problem) {
    return fail(error, NNAPI_SHIM_BAD_MODEL, "record %.80s of %.200s %s; copy or convert the model again",
                record.name.c_str(), file.path, problem);
  };
  if ((record.flags & kEncrypted) != 0) return refuse("is encrypted, a plain one needed");
  if (record.method != 0) return refuse("is compressed, a stored one needed, so don't pack the archive anew");
  if (record.bytes != record.stored_bytes) return refuse("is stored and has two sizes");
  uint8_t local[kLocalBytes];
  if (!read_at(file, record.offset, local, sizeof local) || get32(local) != kLocalSignature) {
    return refuse("is not where the directory says");
  }
  const size_t name_bytes = get16(local + 26);
  std::string name(name_bytes, '\0');
  if (!read_at(file, record.offset + kLocalBytes, &name[0], name_bytes) || name != record.name) {
    return refuse("has another name in its own header");
  }
  const bool follows = (get16(local + 6) & 8) != 0;  // sizes come after the data
  if (get16(local + 8) != 0 || (get16(local + 6) & kEncrypted) != 0 ||
      !is_size(get32(local + 18), record.bytes, follows) || !is_size(get32(local + 22), record.bytes, follows)) {
    return refuse("contradicts its own header");
  }
  *offset = record.offset + kLocalBytes + name_bytes + get16(local + 28);
  if (*offset > file.bytes || record.bytes > file.bytes - *offset) return refuse("is cut off");
  return NNAPI_SHIM_OK;
}

}  // namespace nnapi_shim
