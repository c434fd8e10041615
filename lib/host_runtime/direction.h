// SPDX-License-Identifier: BSD-3-Clause
// Tells a model's inputs and outputs apart.
#pragma once

namespace nnapi_convert::host {

enum class Direction { kInput, kOutput };

inline const char* name_of(Direction direction) {
  return direction == Direction::kInput ? "input" : "output";
}

}  // namespace nnapi_convert::host
