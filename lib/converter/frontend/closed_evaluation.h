// SPDX-License-Identifier: BSD-3-Clause
// Evaluates at conversion the nodes that depend on constants only: masks, position tables, arithmetic on fixed sizes.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <optional>
#include <vector>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// True if the operator changes an argument in place.
bool changes_argument(const torch::jit::Node& node);

// True for a node that changes no argument, and whose inputs are constants or of which it reads only the shape and
// dtype.
bool is_closed(const torch::jit::Node& node);
// Runs a closed node; inserts constants before it and returns them; they equal its outputs. Returns none and changes
// nothing if the node can't be run or a result can't be a constant.
std::vector<torch::jit::Value*> evaluate(torch::jit::Node& node, const TypeMap& types);

// True for a node that can be run at conversion if its inputs are known: it is no container that rules or forward read
// in place, and gives the same results each time. It may change its inputs.
bool may_run_early(const torch::jit::Node& node);

// Returns the results of an operator that reads only the shape and dtype of its first input; nothing for other nodes,
// and if it reads a size that is not fixed.
std::optional<torch::jit::Stack> run_on_shape(const torch::jit::Node& node, const TypeMap& types);

// Returns the result of a node that reads a property of a tensor of known type, but no values (prim::dtype,
// aten::dim...); nothing for other nodes.
c10::optional<c10::IValue> property_of(const torch::jit::Node& node, const TypeMap& types);

}  // namespace nnapi_convert
