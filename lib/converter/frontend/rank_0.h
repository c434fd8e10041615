// SPDX-License-Identifier: BSD-3-Clause
// Gives tensors of rank 0 an axis of size 1 for operators that work along an axis: PyTorch accepts rank 0 there, but
// rules need the axis.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <vector>

#include "lib/ops/op_arguments.h"

namespace nnapi_convert {

// Inserts a copy of the operator that reads vectors of one element in place of tensors of rank 0. Returns the copy's
// results, reshaped to rank 0, which replace the node's outputs; empty for other nodes.
std::vector<TorchValue*> with_axis(TorchNode& node, const TypeMap& types);

}  // namespace nnapi_convert
