// CRC-32 as zip archives use it (polynomial 0xEDB88320, reflected).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nnapi_convert {

namespace detail {

// [k][b]: what byte b, followed by k zeros, does to the register.
template <size_t kCount>
using Crc32Tables = std::array<std::array<uint32_t, 256>, kCount>;

template <size_t kCount>
constexpr Crc32Tables<kCount> make_crc32_tables() {
  Crc32Tables<kCount> tables{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1u) != 0 ? (value >> 1) ^ 0xEDB88320u : value >> 1;
    tables[0][i] = value;
  }
  for (size_t k = 1; k < kCount; ++k) {
    for (size_t i = 0; i < 256; ++i) {
      const uint32_t before = tables[k - 1][i];
      tables[k][i] = (before >> 8) ^ tables[0][before & 0xFFu];
    }
  }
  return tables;
}

template <size_t kCount>
inline constexpr Crc32Tables<kCount> kCrc32Tables = make_crc32_tables<kCount>();

inline uint32_t little_endian_word(const uint8_t* bytes) {
  return static_cast<uint32_t>(bytes[0]) | static_cast<uint32_t>(bytes[1]) << 8 |
         static_cast<uint32_t>(bytes[2]) << 16 | static_cast<uint32_t>(bytes[3]) << 24;
}

// The register after kStride bytes more, a multiple of 4: no lookup waits for another.
template <size_t kStride>
uint32_t crc32_of_stride(const uint8_t* bytes, uint32_t value) {
  const auto& tables = kCrc32Tables<kStride>;
  uint32_t result = 0;
  for (size_t i = 0; i < kStride; i += 4) {
    const uint32_t word = little_endian_word(bytes + i) ^ (i == 0 ? value : 0);
    for (size_t k = 0; k < 4; ++k) result ^= tables[kStride - 1 - i - k][(word >> (8 * k)) & 0xFFu];
  }
  return result;
}

}  // namespace detail

// Of `size` bytes that follow those that gave `before`. Takes a table of 1 KB.
inline uint32_t crc32(const void* data, size_t size, uint32_t before = 0) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  uint32_t value = ~before;
  for (size_t i = 0; i < size; ++i) value = detail::kCrc32Tables<1>[0][(value ^ bytes[i]) & 0xFFu] ^ (value >> 8);
  return ~value;
}

// The same, seven times as fast, with tables of 16 KB: too much for apps.
inline uint32_t fast_crc32(const void* data, size_t size, uint32_t before = 0) {
  constexpr size_t kStride = 16;
  const auto* bytes = static_cast<const uint8_t*>(data);
  uint32_t value = ~before;
  for (; size >= kStride; bytes += kStride, size -= kStride) value = detail::crc32_of_stride<kStride>(bytes, value);
  return crc32(bytes, size, ~value);
}

}  // namespace nnapi_convert
