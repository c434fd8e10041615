// Puts together what callers of the converted module see, from what the stages found.
#pragma once

#include <vector>

#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/lower/lower.h"
#include "lib/converter/lower/quant_mode.h"
#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

// The type of each tensor that forward returns; float32 where it isn't known.
std::vector<TensorType> output_types(const NormalisedModel& normalised, const TypeMap& types);

// `original_types` and `original_outputs` are those of the model as it was given, `output_types` those of NNAPI's
// model.
ModuleInterface make_interface(const NormalisedModel& normalised, const QuantBoundaries& boundaries,
                               const LoweredModel& lowered, const std::vector<TensorType>& original_types,
                               const std::vector<TensorType>& original_outputs,
                               const std::vector<TensorType>& output_types);

}  // namespace nnapi_convert
