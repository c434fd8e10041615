// SPDX-License-Identifier: BSD-3-Clause
// Finds the types of attributes that forward changes: known where each run leaves them as it found them. Then layers
// that read state first can go to NNAPI.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "lib/converter/frontend/block_types.h"
#include "lib/converter/graph/attribute_path.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// The types of attributes by their paths: of a tensor, or of each element of a tuple or list. An optional attribute has
// the type that it has while it isn't None. One that is empty at first (graph/filled_state.h) stands under
// while_filled(path).
using StateTypes = std::map<AttributePath, KnownTypes>;

// Returns the types of all values of a copy of the graph, whose inputs and state have the given types.
using InferWithState =
    std::function<TypeMap(NormalisedModel& copy, const TypeMap& input_types, const StateTypes& state)>;

// Returns the types of the attributes. An attribute has a type if its value has it at the beginning, and everything
// that a run puts into it has it again. One that is None or empty at the beginning has the type that the first runs
// leave there. Sizes are fixed.
StateTypes state_types(const NormalisedModel& model, const TypeMap& input_types, const InferWithState& infer);

// Returns the types of the results of a node that takes tensors out of an attribute in `state`, or out of what branches
// give; nothing for other nodes.
std::optional<KnownTypes> types_of_held(const torch::jit::Node& node, const TypeMap& types, const StateTypes& state);

}  // namespace nnapi_convert
