// Operators that work along an axis take a tensor of rank 0 as if it had one axis of size 1; rules want that axis.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <vector>

#include "lib/ops/op_arguments.h"

namespace nnapi_convert {

// What takes the place of the outputs of such an operator on tensors of rank 0: those of a copy before it that reads
// vectors of one element, reshaped to rank 0. Empty for other nodes.
std::vector<TorchValue*> with_axis(TorchNode& node, const TypeMap& types);

}  // namespace nnapi_convert
