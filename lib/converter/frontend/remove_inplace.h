// SPDX-License-Identifier: BSD-3-Clause
// Makes in-place operations functional: relu_(x) becomes relu(x), and later readers of x read the result.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <memory>
#include <vector>

#include "lib/base/diagnostics.h"

namespace nnapi_convert {

// An operation on a tensor stays in place if a later node reads another view of the tensor; it has no rule, so that it
// is refused later. Warns if forward changes its own input. Returns the inputs of the graph whose changes are removed
// on the condition that no other input shares their memory.
std::vector<torch::jit::Value*> remove_inplace(const std::shared_ptr<torch::jit::Graph>& graph,
                                               Diagnostics& diagnostics);

// Returns the functional operator of an in-place one that changes elements ("aten::relu" for "aten::relu_"), if both
// have the same arguments. Names of overloads may differ: pow_.Scalar is pow.Tensor_Scalar.
c10::optional<c10::Symbol> functional_kind(const torch::jit::Node& node);
// Puts the functional operator in the node's place, which functional_kind() knows; later readers of the tensor read its
// result. What gives bools is cast to the tensor's dtype.
void make_functional(torch::jit::Node* change);
// Returns the functional operator as functional_kind() does, and also that of an operator that changes the shape of its
// tensor: "aten::t", which returns a view, for "aten::t_".
c10::optional<c10::Symbol> kind_without_underscore(const torch::jit::Node& node);

// True for an in-place operator that changes the shape of its tensor: of all aliases, but not of the tensor's views.
bool changes_shape(const torch::jit::Node& node);

}  // namespace nnapi_convert
