// SPDX-License-Identifier: BSD-3-Clause
// Serves the writers of both buffers, PyTorch's and the shim's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace nnapi_convert {

// The most bytes of a constant that is stored in the buffer itself: an archive entry costs more.
constexpr size_t kMaxImmediateBytes = 128;

inline int32_t float_bits(float value) {
  int32_t bits;
  static_assert(sizeof bits == sizeof value);
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace nnapi_convert
