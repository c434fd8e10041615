// SPDX-License-Identifier: BSD-3-Clause
// Finds the types of values that enter or leave the blocks of branches and loops that stay TorchScript.
#pragma once

#include <optional>
#include <vector>

#include "lib/converter/frontend/loop_trial.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Returns whether dtype, sizes and quantisation are the same.
bool same_type(const TensorType& a, const TensorType& b);

using KnownTypes = std::vector<std::optional<TensorType>>;  // nothing: branches or rounds differ in the type

// Returns the types of the inputs of a loop's body: the counter and the carried values. A carried tensor has a known
// type if each round returns the type that it takes; `infer_types` finds this on a copy of the body.
KnownTypes carried_types(torch::jit::Node& loop, const TypeMap& types, const InferTypes& infer_types);
// Returns the types of the loop's outputs, once the inputs of its body have types.
KnownTypes carried_by(const torch::jit::Node& loop, const TypeMap& types);

// Returns the types of the outputs of a prim::If, once its blocks are typed. A type is known if all branches that set
// the output agree on it.
KnownTypes branch_types(const torch::jit::Node& branch, const TypeMap& types);

}  // namespace nnapi_convert
