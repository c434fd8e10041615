// SPDX-License-Identifier: BSD-3-Clause
// Turns numbers that TorchScript reads from tensors while the model runs (item(), int(x), conditions, loop counters)
// into tensors of rank 0, so that the rules for tensors type and lower the operators on these numbers.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Inserts nodes on tensors before a node that reads a number from a tensor, or that takes such a number as an argument.
// Returns the value that can replace the node's one output; the caller has to infer the types of the new nodes. Returns
// null for other nodes, and for nodes that have no form on tensors.
torch::jit::Value* replacement_on_tensors(torch::jit::Node* node, const TypeMap& types);

// Returns a tensor as it is. For a constant number, inserts a constant tensor of rank 0 at the graph's insertion point
// and returns it. Returns null for other values.
torch::jit::Value* as_tensor(torch::jit::Value* value);

}  // namespace nnapi_convert
