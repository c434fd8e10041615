// SPDX-License-Identifier: BSD-3-Clause
#include "tests/shim/zip_maker.h"

#include "lib/format/crc32.h"

namespace nnapi_shim::testing {
namespace {

void put(std::vector<uint8_t>* zip, uint64_t number, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) zip->push_back(static_cast<uint8_t>(number >> 8 * i));
}

void put_text(std::vector<uint8_t>* zip, const std::string& text) {
  zip->insert(zip->end(), text.begin(), text.end());
}

void put_local(std::vector<uint8_t>* zip, const ZipEntry& entry) {
  const size_t before = zip->size() + 30 + entry.name.size() + (entry.is_64 ? 20 : 0) + 4;
  const size_t padding = (entry.alignment - before % entry.alignment) % entry.alignment;
  const uint64_t size = entry.sizes_follow ? 0 : entry.is_64 ? 0xFFFFFFFF : entry.bytes.size();
  put(zip, 0x04034b50, 4);
  put(zip, 45, 2);
  put(zip, entry.flags | (entry.sizes_follow ? 8 : 0), 2);
  put(zip, entry.method, 2);
  put(zip, 0, 4);  // time and date
  put(zip, nnapi_convert::crc32(entry.bytes.data(), entry.bytes.size()), 4);
  put(zip, size, 4);
  put(zip, size, 4);
  put(zip, entry.name.size(), 2);
  put(zip, (entry.is_64 ? 20 : 0) + 4 + padding, 2);
  put_text(zip, entry.name);
  if (entry.is_64) {
    put(zip, 1, 2);
    put(zip, 16, 2);
    put(zip, entry.bytes.size(), 8);
    put(zip, entry.bytes.size(), 8);
  }
  put(zip, 0x4246, 2);  // as PyTorch pads
  put(zip, padding, 2);
  put_text(zip, std::string(padding, 'Z'));
  zip->insert(zip->end(), entry.bytes.begin(), entry.bytes.end());
}

void put_central(std::vector<uint8_t>* zip, const ZipEntry& entry, size_t offset) {
  put(zip, 0x02014b50, 4);
  put(zip, 45, 2);
  put(zip, 45, 2);
  put(zip, entry.flags | (entry.sizes_follow ? 8 : 0), 2);
  put(zip, entry.method, 2);
  put(zip, 0, 4);
  put(zip, nnapi_convert::crc32(entry.bytes.data(), entry.bytes.size()), 4);
  put(zip, entry.is_64 ? 0xFFFFFFFF : entry.bytes.size(), 4);
  put(zip, entry.is_64 ? 0xFFFFFFFF : entry.bytes.size(), 4);
  put(zip, entry.name.size(), 2);
  put(zip, entry.is_64 ? 6 + 28 : 0, 2);
  put(zip, 0, 2);  // comment
  put(zip, 0, 2);  // volume
  put(zip, 0, 6);  // attributes
  put(zip, entry.is_64 ? 0xFFFFFFFF : offset, 4);
  put_text(zip, entry.name);
  if (!entry.is_64) return;
  put(zip, 0x7777, 2);  // another field comes first
  put(zip, 2, 2);
  put(zip, 0, 2);
  put(zip, 1, 2);
  put(zip, 24, 2);
  put(zip, entry.bytes.size(), 8);
  put(zip, entry.bytes.size(), 8);
  put(zip, offset, 8);
}

void put_end_64(std::vector<uint8_t>* zip, size_t count, size_t directory) {
  const size_t end = zip->size();
  put(zip, 0x06064b50, 4);
  put(zip, 44, 8);
  put(zip, 45, 2);
  put(zip, 45, 2);
  put(zip, 0, 8);  // volumes
  put(zip, count, 8);
  put(zip, count, 8);
  put(zip, end - directory, 8);
  put(zip, directory, 8);
  put(zip, 0x07064b50, 4);
  put(zip, 0, 4);
  put(zip, end, 8);
  put(zip, 1, 4);
}

}  // namespace

std::vector<uint8_t> make_zip(const std::vector<ZipEntry>& entries, const ZipOptions& options,
                              std::vector<size_t>* positions) {
  std::vector<uint8_t> zip;
  std::vector<size_t> offsets;
  for (const ZipEntry& entry : entries) {
    offsets.push_back(zip.size());
    put_local(&zip, entry);
  }
  const size_t directory = zip.size();
  for (size_t i = 0; i < entries.size(); ++i) put_central(&zip, entries[i], offsets[i]);
  const size_t directory_end = zip.size();
  if (options.end_64) put_end_64(&zip, entries.size(), directory);
  offsets.push_back(directory);
  offsets.push_back(zip.size());
  put(&zip, 0x06054b50, 4);
  put(&zip, 0, 4);  // volumes
  put(&zip, options.end_64 ? 0xFFFF : entries.size(), 2);
  put(&zip, options.end_64 ? 0xFFFF : entries.size(), 2);
  put(&zip, options.end_64 ? 0xFFFFFFFF : directory_end - directory, 4);
  put(&zip, options.end_64 ? 0xFFFFFFFF : directory, 4);
  put(&zip, options.comment.size(), 2);
  put_text(&zip, options.comment);
  if (positions != nullptr) *positions = offsets;
  return zip;
}

}  // namespace nnapi_shim::testing
