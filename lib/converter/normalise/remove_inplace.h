// Makes in-place operations functional: relu_(x) becomes relu(x), and what reads x later reads the result.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <memory>

#include "lib/base/diagnostics.h"

namespace nnapi_convert {

// An operation on a tensor of which another view is read later stays as it is; there is no rule for it, so that it is
// refused. Warns where forward changes its own input.
void remove_inplace(const std::shared_ptr<torch::jit::Graph>& graph, Diagnostics& diagnostics);

// The functional operator of an in-place one that changes elements ("aten::relu" of "aten::relu_"), if it has the same
// arguments. Overloads have names of their own: pow_.Scalar is pow.Tensor_Scalar.
c10::optional<c10::Symbol> functional_kind(const torch::jit::Node& node);
// The same also of an operator that changes the shape of its tensor: "aten::t" of "aten::t_", which gives a view.
c10::optional<c10::Symbol> kind_without_underscore(const torch::jit::Node& node);

// True for an in-place operator that changes the shape of its tensor, and with it of all that names it, but not of its
// views.
bool changes_shape(const torch::jit::Node& node);

}  // namespace nnapi_convert
