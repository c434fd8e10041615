// SPDX-License-Identifier: BSD-3-Clause
#include "lib/format/crc32.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace nnapi_convert;

namespace {

// By the definition, bit by bit.
uint32_t slow_crc32(const uint8_t* bytes, size_t size) {
  uint32_t value = ~0u;
  for (size_t i = 0; i < size; ++i) {
    value ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1u) != 0 ? 0xEDB88320u : 0u);
  }
  return ~value;
}

}  // namespace

TEST_CASE("crc32: the known check value, and nothing") {
  const std::string text = "123456789";
  CHECK(crc32(text.data(), text.size()) == 0xCBF43926u);
  CHECK(crc32(nullptr, 0) == 0);
}

TEST_CASE("crc32: right for any length and place, and go on from what was before") {
  std::vector<uint8_t> bytes(200);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * i * 37 + i / 3);
  for (size_t begin = 0; begin < 5; ++begin) {
    for (size_t size = 0; begin + size <= bytes.size(); ++size) {
      const uint32_t expected = slow_crc32(bytes.data() + begin, size);
      REQUIRE(crc32(bytes.data() + begin, size) == expected);
      const size_t first = size * 2 / 3;
      const uint32_t of_first = crc32(bytes.data() + begin, first);
      REQUIRE(crc32(bytes.data() + begin + first, size - first, of_first) == expected);
    }
  }
}
