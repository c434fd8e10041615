// SPDX-License-Identifier: BSD-3-Clause
// Finds inputs that a model reads as masks: which values hide something, by the operators that read them. Made-up masks
// are then masks, in which no row is hidden as a whole.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/ops/op_arguments.h"

namespace nnapi_convert {

struct MaskUse {
  // For a mask of flags: true where 1 or True hides (masked_fill), false where 0 or False does (a mask of words that
  // count). Nothing where no operator reads the value as flags.
  std::optional<bool> hiding_flag = {};
  bool is_added = false;  // added to scores before a softmax: 0 shows, and negative infinity hides

  bool is_mask() const { return hiding_flag || is_added; }
};

// Returns how operators read the value, directly or through casts, moves of elements, comparisons and logic.
MaskUse mask_use(const TorchValue& value);

// Returns the constant integers that the model compares the value with: a word that stands for padding is one.
std::vector<int64_t> compared_with(const TorchValue& value);

}  // namespace nnapi_convert
