// SPDX-License-Identifier: BSD-3-Clause
// Computes offsets of aligned data.
#pragma once

#include <cstdint>

namespace nnapi_convert {

// Returns the least multiple of `unit` that is not below `value`.
inline uint64_t rounded_up(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace nnapi_convert
