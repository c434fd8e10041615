// SPDX-License-Identifier: BSD-3-Clause
// Recognises UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nnapi_convert {

// Returns the number of bytes of the first character between `at` and `end` (at least one byte); 0 if they begin with
// none. Overlong forms, halves of surrogate pairs and numbers above the highest code point are no characters.
inline size_t sign_bytes(const uint8_t* at, const uint8_t* end) {
  const uint8_t first = *at;
  if (first < 0x80) return 1;
  const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || static_cast<size_t>(end - at) < bytes) return 0;
  if ((first == 0xe0 && at[1] < 0xa0) || (first == 0xed && at[1] > 0x9f)) return 0;
  if ((first == 0xf0 && at[1] < 0x90) || (first == 0xf4 && at[1] > 0x8f)) return 0;
  for (size_t i = 1; i < bytes; ++i) {
    if ((at[i] & 0xc0) != 0x80) return 0;
  }
  return bytes;
}

}  // namespace nnapi_convert
