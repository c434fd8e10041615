// The types of what crosses the blocks of control flow that stays TorchScript.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

using KnownTypes = std::vector<std::optional<TensorType>>;  // nothing: the type depends on the way that is taken

// The types of all values of a graph whose inputs have the given types.
using InferTypes = std::function<TypeMap(NormalisedModel& body, const TypeMap& input_types)>;

// What the body of a loop is given in every round: its counter, and the values that it carries. A carried tensor has a
// type if a round that is given the type gives it again; `infer_types` finds that on a copy of the body.
KnownTypes carried_types(torch::jit::Node& loop, const TypeMap& types, const InferTypes& infer_types);
// What the loop gives, once its body's inputs have these types.
KnownTypes carried_by(const torch::jit::Node& loop, const TypeMap& types);

// What a prim::If gives, once its blocks are typed: where all branches that end agree.
KnownTypes branch_types(const torch::jit::Node& branch, const TypeMap& types);

}  // namespace nnapi_convert
