// SPDX-License-Identifier: BSD-3-Clause
// Finds the operator that gives what an in-place operator writes: aten::relu for aten::relu_.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// Returns the functional operator of an in-place one that changes elements ("aten::relu" for "aten::relu_"), if both
// have the same arguments. Names of overloads may differ: pow_.Scalar is pow.Tensor_Scalar.
c10::optional<c10::Symbol> functional_kind(const torch::jit::Node& node);
// Returns the functional operator as functional_kind() does, and also that of an operator that changes the shape of its
// tensor: "aten::t", which returns a view, for "aten::t_".
c10::optional<c10::Symbol> kind_without_underscore(const torch::jit::Node& node);

// True for an in-place operator that changes the shape of its tensor: of all aliases, but not of the tensor's views.
bool changes_shape(const torch::jit::Node& node);

// Inserts before the node the operator that functional_kind() names, on the same arguments, and returns the result.
// Operators that may give another dtype than the tensor's are followed by type_as(): in place they keep the tensor's
// dtype. Inference drops a type_as() that changes nothing.
torch::jit::Value* insert_functional_form(torch::jit::Node* change);
// Replaces the node by its functional form; later readers of the tensor read its result.
void make_functional(torch::jit::Node* change);

}  // namespace nnapi_convert
