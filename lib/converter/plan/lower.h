// SPDX-License-Identifier: BSD-3-Clause
// Lowers a typed graph to one NNAPI model by the rules.
#pragma once

#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

struct LoweredModel {
  nnapi::Model model;                    // its inputs are the inputs of forward that the model reads
  std::vector<InterfaceOutput> outputs;  // one for each tensor that forward returns
  std::vector<Refusal> refusals;
};

// Returns only the refusals. Use it for a model with nodes that have no types or were refused before.
std::vector<Refusal> lowering_refusals(const NormalisedModel& normalised, const std::vector<TensorType>& input_types,
                                       const TypeMap& types, const Target& target);

// Lowers the graph. If a node is refused, the model is incomplete and has no outputs. `target` says which features
// rules may use. Rules don't refuse operations of a higher feature level; validate does.
LoweredModel lower(const NormalisedModel& normalised, const std::vector<TensorType>& input_types, const TypeMap& types,
                   const Target& target, Diagnostics& diagnostics);

}  // namespace nnapi_convert
