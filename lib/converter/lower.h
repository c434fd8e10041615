// Lowers a typed graph to one NNAPI model by the rules.
#pragma once

#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/normalise.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

struct LoweredModel {
  nnapi::Model model;                    // its inputs are those inputs of forward that it reads
  std::vector<InterfaceOutput> outputs;  // for each tensor that forward returns
  std::vector<Refusal> refusals;
};

// Refused nodes leave the model incomplete, without outputs. `feature_level` is the highest NNAPI level that rules may
// make use of; they don't refuse what needs a higher one, which validate does.
LoweredModel lower(const NormalisedModel& normalised, const std::vector<TensorType>& input_types, const TypeMap& types,
                   int feature_level, Diagnostics& diagnostics);

}  // namespace nnapi_convert
