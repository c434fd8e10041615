// SPDX-License-Identifier: BSD-3-Clause
// Finds ranges that single tensors could have in place of those of the method that all tensors use.
#pragma once

#include <cstddef>
#include <vector>

#include "lib/quantise/assign.h"

namespace nnapi_convert::quantise {

// Tensors that share a scale, and another range for it.
struct RangeTrial {
  std::vector<size_t> operands;
  Range range;
  double change = 0;  // how far the ends are from those of the current range, as a share of its width
};

// Returns ranges of `others` that differ from those of `current` and from each other, for tensors that are beside
// integer operations in all of them. The largest changes come first, at most `most` of them.
std::vector<RangeTrial> range_trials(const Assignment& current, const std::vector<Assignment>& others, size_t most);

}  // namespace nnapi_convert::quantise
