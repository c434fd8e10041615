// SPDX-License-Identifier: BSD-3-Clause
// Tells which sizes an operator's weights and constants demand of its tensors: the channels of a convolution, the width
// of a linear layer, the elements of a reshape. Solving the demands of all operators of a model gives sizes of inputs
// that no file states.
#pragma once

#include <utility>
#include <vector>

#include "lib/base/dim.h"
#include "lib/ops/op_arguments.h"

namespace nnapi_convert {

// The meaning of an axis for the operator that reads it.
enum class AxisUse { kBatch, kPicture, kLength };

// Two sizes that have to be equal.
struct SizeDemand {
  Dim found, needed;
};

struct SizeDemands {
  bool fits = true;  // false: the operator takes no tensors of these ranks
  std::vector<SizeDemand> equal;
  std::vector<std::pair<Dim, AxisUse>> uses;
};

// Returns the node's demands on the sizes of its tensors, whose types `types` has. Returns nothing for a node of
// unknown arguments and for an operator that takes any sizes.
SizeDemands size_demands(const TorchNode& node, const TypeMap& types);

}  // namespace nnapi_convert
