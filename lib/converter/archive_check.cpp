#include "lib/converter/archive_check.h"

#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>

#include <array>
#include <fstream>
#include <map>
#include <vector>

#include "lib/base/error.h"

namespace nnapi_convert {
namespace {

// Sizes and offsets of a zip archive's records, by the public description of the format (APPNOTE.TXT, 4.3).
constexpr size_t kEndRecordBytes = 22;
constexpr size_t kEntryBytes = 46;
constexpr uint32_t kEntrySignature = 0x02014b50;

uint32_t read_number(const std::vector<char>& bytes, size_t offset, size_t width) {
  uint32_t number = 0;
  for (size_t i = 0; i < width; ++i) {
    number |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[offset + i])) << (8 * i);
  }
  return number;
}

// `count` bytes from `begin` on; none if the file is shorter.
std::vector<char> read_bytes(std::ifstream& stream, size_t begin, size_t count) {
  std::vector<char> bytes(count);
  stream.seekg(static_cast<std::streamoff>(begin));
  stream.read(bytes.data(), static_cast<std::streamsize>(count));
  if (!stream) bytes.clear();
  return bytes;
}

// Checksums by entry name, from the archive's directory; empty if the directory is not where a plain archive has it.
std::map<std::string, uint32_t> read_checksums(const std::string& path) {
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  const auto size = static_cast<size_t>(stream.tellg());
  std::map<std::string, uint32_t> checksums;
  if (!stream || size < kEndRecordBytes) return checksums;
  const std::vector<char> end = read_bytes(stream, size - kEndRecordBytes, kEndRecordBytes);
  if (end.empty()) return checksums;
  const size_t directory_bytes = read_number(end, 12, 4);
  const size_t directory_begin = read_number(end, 16, 4);
  if (directory_begin > size || directory_bytes > size - directory_begin) return checksums;
  const std::vector<char> directory = read_bytes(stream, directory_begin, directory_bytes);
  for (size_t at = 0; at + kEntryBytes <= directory.size();) {
    if (read_number(directory, at, 4) != kEntrySignature) break;
    const size_t name_bytes = read_number(directory, at + 28, 2);
    const size_t rest_bytes = read_number(directory, at + 30, 2) + read_number(directory, at + 32, 2);
    if (at + kEntryBytes + name_bytes > directory.size()) break;
    checksums[std::string(directory.data() + at + kEntryBytes, name_bytes)] = read_number(directory, at + 16, 4);
    at += kEntryBytes + name_bytes + rest_bytes;
  }
  return checksums;
}

// The CRC-32 that zip archives use: reflected polynomial 0xedb88320.
uint32_t crc32(const uint8_t* data, size_t size) {
  static const std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> values{};
    for (uint32_t i = 0; i < values.size(); ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) ? 0xedb88320u : 0u);
      values[i] = value;
    }
    return values;
  }();
  uint32_t crc = 0xffffffffu;
  for (size_t i = 0; i < size; ++i) crc = (crc >> 8) ^ table[(crc ^ data[i]) & 0xff];
  return crc ^ 0xffffffffu;
}

bool is_weight(const std::string& record) {
  return record.rfind("data/", 0) == 0 || record.rfind("constants/", 0) == 0;
}

}  // namespace

void check_archive(const std::string& path) {
  const std::map<std::string, uint32_t> checksums = read_checksums(path);
  caffe2::serialize::PyTorchStreamReader reader(path);
  for (const std::string& record : reader.getAllRecords()) {
    if (is_weight(record)) continue;
    const auto [data, size] = reader.getRecord(record);
    const uint32_t found = crc32(static_cast<const uint8_t*>(data.get()), size);
    for (const auto& [name, needed] : checksums) {
      const bool is_same = name.size() > record.size() && name[name.size() - record.size() - 1] == '/' &&
                           name.compare(name.size() - record.size(), record.size(), record) == 0;
      if (is_same && found != needed) {
        throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: entry {} is damaged", path, name));
      }
    }
  }
}

}  // namespace nnapi_convert
