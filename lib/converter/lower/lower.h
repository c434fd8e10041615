// Lowers a typed graph to one NNAPI model by the rules.
#pragma once

#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

struct LoweredModel {
  nnapi::Model model;                    // its inputs are those inputs of forward that it reads
  std::vector<InterfaceOutput> outputs;  // for each tensor that forward returns
  std::vector<Refusal> refusals;
};

// The refusals alone, of a model with nodes that have no types or were refused before.
std::vector<Refusal> lowering_refusals(const NormalisedModel& normalised, const std::vector<TensorType>& input_types,
                                       const TypeMap& types, const Target& target);

// Refused nodes leave the model incomplete, without outputs. `target` says what rules may
// make use of; they don't refuse what needs a higher one, which validate does.
LoweredModel lower(const NormalisedModel& normalised, const std::vector<TensorType>& input_types, const TypeMap& types,
                   const Target& target, Diagnostics& diagnostics);

}  // namespace nnapi_convert
