// SPDX-License-Identifier: BSD-3-Clause
// Computes the CRC-32 of zip archives (polynomial 0xEDB88320, reflected) for the shim: small, and without a library.
// Programs on the host use libdeflate's function, which is a hundred times as fast.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nnapi_convert {

constexpr std::array<uint32_t, 256> make_crc32_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1u) != 0 ? (value >> 1) ^ 0xEDB88320u : value >> 1;
    table[i] = value;
  }
  return table;
}

inline constexpr std::array<uint32_t, 256> kCrc32Table = make_crc32_table();

// Returns the CRC-32 of earlier bytes, whose CRC-32 is `before`, followed by these `size` bytes.
inline uint32_t crc32(const void* data, size_t size, uint32_t before = 0) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  uint32_t value = ~before;
  for (size_t i = 0; i < size; ++i) value = kCrc32Table[(value ^ bytes[i]) & 0xFFu] ^ (value >> 8);
  return ~value;
}

}  // namespace nnapi_convert
