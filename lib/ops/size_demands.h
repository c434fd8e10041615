// SPDX-License-Identifier: BSD-3-Clause
// Tells what an operator's weights and constants ask of the sizes of its tensors: the channels of a convolution, the
// width of a linear layer, the elements of a reshape. Sizes of inputs that no file states are found by solving what all
// operators of a model ask.
#pragma once

#include <utility>
#include <vector>

#include "lib/base/dim.h"
#include "lib/ops/op_arguments.h"

namespace nnapi_convert {

// What an axis is for the operator that reads it.
enum class AxisUse { kBatch, kPicture, kLength };

// Both have to be equal.
struct SizeDemand {
  Dim found, needed;
};

struct SizeDemands {
  bool fits = true;  // false: the operator takes no tensors of these ranks
  std::vector<SizeDemand> equal;
  std::vector<std::pair<Dim, AxisUse>> uses;
};

// Returns what the node asks of the tensors whose types `types` has. Returns nothing for a node of unknown arguments
// and for an operator that takes any sizes.
SizeDemands size_demands(const TorchNode& node, const TypeMap& types);

}  // namespace nnapi_convert
