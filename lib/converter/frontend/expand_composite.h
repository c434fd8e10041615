// SPDX-License-Identifier: BSD-3-Clause
// Takes apart composite operators, which ATen computes by calling other operators (hstack, tensordot,
// pairwise_distance...), and operators that have a formula (formulas.h).
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>
#include <vector>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// True if ATen computes the operator by calling others, so that a trace of these calls can take its place.
bool is_composite(const c10::OperatorHandle& handle);

// Inserts before the node the operators that ATen, or the formula, calls for it; returns the values that replace the
// node's outputs. The node itself stays. The operator is traced once on made-up tensors of the inputs' types. Inserts
// and returns nothing if the operator has neither form, if a size is not fixed, if the calls depend on values or change
// a tensor in place, or if a called operator has no rule or is in the node's lineage (lineage.h).
std::vector<TorchValue*> expand_composite(TorchNode& node, const TypeMap& types);

// Returns why the node's formula does not take the arguments; nothing if it takes them, or if there is no formula.
std::optional<Refusal> formula_refusal(const TorchNode& node, const TypeMap& types);

}  // namespace nnapi_convert
