// SPDX-License-Identifier: BSD-3-Clause
// The types of attributes that forward changes: known where each run leaves them as it found them. Then layers that
// read state first can go to NNAPI.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "lib/converter/frontend/block_types.h"
#include "lib/converter/graph/attribute_path.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// By the attribute's path: the type of its tensor, or of each element of its tuple or list. Of an optional one: while
// it isn't None. Of one that is empty at first (graph/filled_state.h): under while_filled(path).
using StateTypes = std::map<AttributePath, KnownTypes>;

// The types of all values of a copy of the graph, of which the inputs and the state have the given types.
using InferWithState =
    std::function<TypeMap(NormalisedModel& copy, const TypeMap& input_types, const StateTypes& state)>;

// An attribute has a type if its value has it at the beginning, and everything that a run puts into it has it again.
// What is None or empty at the beginning has the type that the first runs leave there. Sizes are fixed.
StateTypes state_types(const NormalisedModel& model, const TypeMap& input_types, const InferWithState& infer);

// Of a node that takes tensors out of such an attribute, or out of what branches give, the types of its results:
// nothing for other nodes.
std::optional<KnownTypes> types_of_held(const torch::jit::Node& node, const TypeMap& types, const StateTypes& state);

}  // namespace nnapi_convert
