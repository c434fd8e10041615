// SPDX-License-Identifier: BSD-3-Clause
// Makes the interface that callers of the converted module see, from the results of the stages.
#pragma once

#include <vector>

#include "lib/converter/frontend/quant_mode.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/plan/lower.h"
#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

// Makes the interface. `original_types` and `original_outputs` are the types of the original model's inputs and
// outputs; `output_types` are the types of the NNAPI model's outputs.
ModuleInterface make_interface(const NormalisedModel& normalised, const QuantBoundaries& boundaries,
                               const LoweredModel& lowered, const std::vector<TensorType>& original_types,
                               const std::vector<TensorType>& original_outputs,
                               const std::vector<TensorType>& output_types);

}  // namespace nnapi_convert
