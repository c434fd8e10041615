// --quant for a model that is partitioned: its interface is what the mode makes of a whole model's, and what is
// quantised or dequantised around that are nodes of the graph.
#pragma once

#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/normalised_model.h"
#include "lib/converter/options.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Edits the graph, whose values have the given types, and gives the types of its inputs from then on. Inside of the
// graph quantised tensors stay as they are. `mode` is core, full or nnapi. Throws ConvertError (kNotConvertible) where
// the mode can't be had, as for a whole model; warns of results that may be quantised, where that isn't known.
std::vector<TensorType> apply_quant_mode_to_parts(NormalisedModel& model, const std::vector<TensorType>& input_types,
                                                  const TypeMap& value_types, QuantMode mode, Diagnostics& diagnostics);

// True for the nodes at the interface that --quant core has the CPU run.
bool quantises_on_cpu(const torch::jit::Node& node);

// Of a result that is dequantised last: the scale and zero point it had; none for others that are float.
Quantization quantization_of_result(const torch::jit::Value& result, const TypeMap& types);

}  // namespace nnapi_convert
