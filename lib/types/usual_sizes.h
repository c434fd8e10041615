// SPDX-License-Identifier: BSD-3-Clause
// The sizes that stand for open ones if nothing tells which sizes a model takes.
#pragma once

#include <cstdint>

namespace nnapi_convert {

constexpr int64_t kUsualOpenSize = 96;

// Returns the size for an axis: 1 for the first, the batch.
constexpr int64_t usual_open_size(int /*input*/, int axis) {
  return axis == 0 ? 1 : kUsualOpenSize;
}

}  // namespace nnapi_convert
