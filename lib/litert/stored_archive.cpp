// SPDX-License-Identifier: BSD-3-Clause
#include "lib/litert/stored_archive.h"

#include "lib/format/crc32.h"

namespace nnapi_convert::litert {
namespace {

constexpr uint32_t kHeader = 0x04034b50, kEntry = 0x02014b50, kEnd = 0x06054b50;
constexpr uint32_t kVersion = 20, kNameIsUtf8 = 0x0800;
constexpr uint32_t kNoDate = 0x00210000;  // 1 January 1980, zip's first day

void put(std::string& bytes, uint64_t number, size_t width) {
  for (size_t i = 0; i < width; ++i) bytes += static_cast<char>(number >> (8 * i));
}

// Appends the fields that a file's header and its entry in the directory have in common.
void put_common(std::string& bytes, const std::string& name, const std::string& content) {
  put(bytes, kVersion, 2);
  put(bytes, kNameIsUtf8, 2);
  put(bytes, 0, 2);  // stored
  put(bytes, kNoDate, 4);
  put(bytes, crc32(content.data(), content.size()), 4);
  put(bytes, content.size(), 4);
  put(bytes, content.size(), 4);
  put(bytes, name.size(), 2);
  put(bytes, 0, 2);  // no extra field
}

}  // namespace

std::string stored_archive(const std::vector<std::pair<std::string, std::string>>& files, uint32_t begin) {
  std::string bytes, directory;
  for (const auto& [name, content] : files) {
    put(directory, kEntry, 4);
    put(directory, kVersion, 2);
    put_common(directory, name, content);
    put(directory, 0, 2 + 2 + 2 + 4);  // no comment, disk 0, no attributes
    put(directory, begin + bytes.size(), 4);
    directory += name;
    put(bytes, kHeader, 4);
    put_common(bytes, name, content);
    bytes += name + content;
  }
  const uint64_t place = begin + bytes.size();
  const size_t directory_bytes = directory.size();
  bytes += directory;
  put(bytes, kEnd, 4);
  put(bytes, 0, 4);  // disk 0
  put(bytes, files.size(), 2);
  put(bytes, files.size(), 2);
  put(bytes, directory_bytes, 4);
  put(bytes, place, 4);
  put(bytes, 0, 2);  // no comment
  return bytes;
}

}  // namespace nnapi_convert::litert
