// Numbers that TorchScript takes out of tensors while the model runs (item(), int(x), conditions, loop counters) become
// tensors of rank 0, so that the rules for tensors type and lower what is computed with them.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// For a node that takes a number out of a tensor, or reads one that was taken: what replaces its one output, made by
// nodes on tensors before it, which are still to be typed. Null for other nodes and for what has no form on tensors.
torch::jit::Value* replacement_on_tensors(torch::jit::Node* node, const TypeMap& types);

// The value as a tensor: itself, or a constant number, inserted as a tensor of rank 0 at the graph's insertion point;
// null for anything else.
torch::jit::Value* as_tensor(torch::jit::Value* value);

}  // namespace nnapi_convert
