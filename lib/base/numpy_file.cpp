// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/numpy_file.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/file_bytes.h"

namespace nnapi_convert::calibration {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 34;

// A part of a file.
struct Span {
  const uint8_t* data = nullptr;
  size_t size = 0;
};

[[noreturn]] void refuse_array(const std::string& path, const std::string& problem) {
  throw ConvertError(ExitCode::kBadFile, fmt::format("{}: {}", path, problem));
}

uint32_t number(const Span& span, size_t at, size_t bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value |= static_cast<uint32_t>(span.data[at + i]) << (8 * i);
  return value;
}

// Returns the text between 'KEY': and `end` in the header, which is a Python dictionary; empty if there is none.
std::string entry_of(const std::string& header, const std::string& key, char end) {
  const size_t at = header.find("'" + key + "':");
  if (at == std::string::npos) return "";
  const size_t begin = header.find_first_not_of(' ', at + key.size() + 3);
  const size_t stop = begin == std::string::npos ? begin : header.find(end, begin);
  return stop == std::string::npos ? "" : header.substr(begin, stop - begin);
}

std::optional<ElementType> element_type(const std::string& text) {
  static const std::map<std::string, ElementType> types = {
      {"<f2", ElementType::kFloat16}, {"<f4", ElementType::kFloat32}, {"<f8", ElementType::kFloat64},
      {"|i1", ElementType::kInt8},    {"|u1", ElementType::kUInt8},   {"<i2", ElementType::kInt16},
      {"<i4", ElementType::kInt32},   {"<i8", ElementType::kInt64},   {"|b1", ElementType::kBool}};
  const auto found = types.find(text);
  return found == types.end() ? std::nullopt : std::optional<ElementType>(found->second);
}

// Reads a shape as NumPy writes it: "(2, 3".
std::vector<int64_t> shape_of(const std::string& text, const std::string& path) {
  std::vector<int64_t> shape;
  for (size_t at = text.find_first_of("0123456789"); at != std::string::npos;) {
    size_t end = text.find_first_not_of("0123456789", at);
    if (end == std::string::npos) end = text.size();
    if (end - at > 15 || shape.size() > 8) refuse_array(path, "a damaged NumPy header");
    shape.push_back(std::stoll(text.substr(at, end - at)));
    at = text.find_first_of("0123456789", end);
  }
  return shape;
}

Array read_npy(const Span& file, const std::string& path) {
  constexpr size_t kPrefix = 10;
  if (file.size < kPrefix || std::memcmp(file.data, "\x93NUMPY", 6) != 0) refuse_array(path, "no NumPy array");
  const bool is_long = file.data[6] >= 2;
  const size_t begin = is_long ? 12 : kPrefix;
  if (file.size < begin) refuse_array(path, "a damaged NumPy header");
  const size_t length = number(file, 8, is_long ? 4 : 2);
  if (length > file.size - begin) refuse_array(path, "a damaged NumPy header");
  const std::string header(reinterpret_cast<const char*>(file.data) + begin, length);
  std::string type = entry_of(header, "descr", ',');
  type.erase(std::remove(type.begin(), type.end(), '\''), type.end());
  const auto known = element_type(type);
  if (!known)
    refuse_array(
        path, fmt::format("dtype {} found; float16, float32, float64, int8, uint8, int16, int32, int64 or bool needed, "
                          "in little-endian order",
                          type));
  if (entry_of(header, "fortran_order", ',') != "False") {
    refuse_array(path, "an array in Fortran's order found; save numpy.ascontiguousarray(array)");
  }
  Array array;
  array.type = *known;
  array.shape = shape_of(entry_of(header, "shape", ')'), path);
  uint64_t bytes = size_of(array.type);
  for (const int64_t size : array.shape) {
    if (size != 0 && bytes > kMostBytes / static_cast<uint64_t>(size)) refuse_array(path, "an array past 16 GiB found");
    bytes *= static_cast<uint64_t>(size);
  }
  const size_t start = begin + length;
  if (bytes > file.size - start) {
    refuse_array(path,
                 fmt::format("{} bytes of values found, {} needed: the file is cut short", file.size - start, bytes));
  }
  array.bytes.assign(file.data + start, file.data + start + bytes);
  return array;
}

std::vector<uint8_t> inflated(const Span& packed, size_t size, const std::string& path) {
  if (size > kMostBytes || size / 1100 > packed.size + 1) refuse_array(path, "a damaged zip archive");
  std::vector<uint8_t> bytes(size);
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> decompressor(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  const auto status =
      libdeflate_deflate_decompress(decompressor.get(), packed.data, packed.size, bytes.data(), bytes.size(), nullptr);
  if (status != LIBDEFLATE_SUCCESS) refuse_array(path, "a damaged zip archive");
  return bytes;
}

// Returns the zip archive's central directory: its position in the file, and the number of its entries.
std::pair<size_t, size_t> directory_of(const Span& file, const std::string& path) {
  constexpr size_t kEnd = 22;
  for (size_t back = kEnd; back <= file.size && back < kEnd + 65536; ++back) {
    const size_t at = file.size - back;
    if (number(file, at, 4) != 0x06054b50) continue;
    const size_t offset = number(file, at + 16, 4);
    if (offset < file.size) return {offset, number(file, at + 10, 2)};
  }
  refuse_array(path, "a damaged zip archive");
}

std::vector<Array> read_npz(const Span& file, const std::string& path) {
  std::vector<Array> arrays;
  auto [at, entries] = directory_of(file, path);
  for (size_t i = 0; i < entries; ++i) {
    constexpr size_t kEntry = 46, kLocal = 30;
    if (at + kEntry > file.size || number(file, at, 4) != 0x02014b50) refuse_array(path, "a damaged zip archive");
    const uint32_t method = number(file, at + 10, 2), packed = number(file, at + 20, 4),
                   size = number(file, at + 24, 4);
    const size_t name_size = number(file, at + 28, 2), local = number(file, at + 42, 4);
    const size_t next = at + kEntry + name_size + number(file, at + 30, 2) + number(file, at + 32, 2);
    if (next > file.size || local > file.size || file.size - local < kLocal)
      refuse_array(path, "a damaged zip archive");
    std::string name(reinterpret_cast<const char*>(file.data) + at + kEntry, name_size);
    const size_t begin = local + kLocal + number(file, local + 26, 2) + number(file, local + 28, 2);
    if (begin > file.size || packed > file.size - begin) refuse_array(path, "a damaged zip archive");
    if (method != 0 && method != 8) refuse_array(path, fmt::format("{}: an unknown compression", name));
    const std::vector<uint8_t> entry = method == 0 ? std::vector<uint8_t>(file.data + begin, file.data + begin + packed)
                                                   : inflated({file.data + begin, packed}, size, path);
    arrays.push_back(read_npy({entry.data(), entry.size()}, path + ": " + name));
    if (name.size() > 4 && name.substr(name.size() - 4) == ".npy") name.resize(name.size() - 4);
    arrays.back().name = name;
    at = next;
  }
  return arrays;
}

}  // namespace

size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::kFloat64:
    case ElementType::kInt64:
      return 8;
    case ElementType::kFloat32:
    case ElementType::kInt32:
      return 4;
    case ElementType::kFloat16:
    case ElementType::kInt16:
      return 2;
    default:
      return 1;
  }
}

std::vector<Array> read_numpy_file(const std::string& path) {
  const std::vector<uint8_t> bytes = file_bytes(path);
  const Span file{bytes.data(), bytes.size()};
  const bool is_zip = bytes.size() > 4 && std::memcmp(bytes.data(), "PK", 2) == 0;
  if (is_zip) return read_npz(file, path);
  return {read_npy(file, path)};
}

}  // namespace nnapi_convert::calibration
