// SPDX-License-Identifier: BSD-3-Clause
// Computes the CRC-32 of zip archives (polynomial 0xEDB88320, reflected) for the shim: small, and without a library.
// Programs on the host use libdeflate's function, which is many times as fast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace nnapi_convert {

// Tables of the CRC-32 of each byte followed by 0 to 7 zero bytes, with which eight bytes are summed at once. They are
// computed at first use, not stored, to keep the shim small in apps.
class Crc32Tables {
 public:
  static constexpr size_t kBytesAtOnce = 8;

  Crc32Tables() {
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value & 1u) != 0 ? (value >> 1) ^ 0xEDB88320u : value >> 1;
      after_zeros_[0][i] = value;
    }
    for (size_t zeros = 1; zeros < kBytesAtOnce; ++zeros) {
      for (uint32_t i = 0; i < 256; ++i) after_zeros_[zeros][i] = add(after_zeros_[zeros - 1][i], 0);
    }
  }

  uint32_t add(uint32_t sum, uint8_t byte) const { return after_zeros_[0][(sum ^ byte) & 0xFFu] ^ (sum >> 8); }

  uint32_t add_eight(uint32_t sum, const uint8_t* bytes) const {
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "as on all of Android's processors");
    uint32_t words[2];
    std::memcpy(words, bytes, sizeof words);
    return add_four(words[0] ^ sum, 4) ^ add_four(words[1], 0);
  }

 private:
  // Returns the CRC-32 of four bytes that are followed by `zeros` zero bytes.
  uint32_t add_four(uint32_t word, size_t zeros) const {
    const auto* tables = after_zeros_ + zeros;
    return tables[3][word & 0xFFu] ^ tables[2][(word >> 8) & 0xFFu] ^ tables[1][(word >> 16) & 0xFFu] ^
           tables[0][word >> 24];
  }

  uint32_t after_zeros_[kBytesAtOnce][256];
};

// Returns the CRC-32 of earlier bytes, whose CRC-32 is `before`, followed by these `size` bytes.
inline uint32_t crc32(const void* data, size_t size, uint32_t before = 0) {
  static const Crc32Tables tables;
  const auto* bytes = static_cast<const uint8_t*>(data);
  uint32_t value = ~before;
  for (; size >= Crc32Tables::kBytesAtOnce; size -= Crc32Tables::kBytesAtOnce, bytes += Crc32Tables::kBytesAtOnce) {
    value = tables.add_eight(value, bytes);
  }
  for (; size > 0; --size) value = tables.add(value, *bytes++);
  return ~value;
}

}  // namespace nnapi_convert
