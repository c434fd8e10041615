// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/plan/interface.h"

#include <algorithm>

namespace nnapi_convert {
namespace {

bool is_read(const NormalisedModel& normalised, size_t input) {
  const auto* value = normalised.inputs[input];
  return !value->uses().empty() ||
         std::find(normalised.outputs.begin(), normalised.outputs.end(), value) != normalised.outputs.end();
}

// Returns the scale and zero point of an output: those of the original's type if it is quantised, as NNAPI's operand
// holds the scale only as float32; else those of the operand, before a last DEQUANTIZE.
Quantization output_quantization(const nnapi::Model& model, const InterfaceOutput& output, const TensorType& type) {
  if (type.is_quantized()) return type.quantization;
  if (output.source != InterfaceOutput::Source::kNnapi) return {};
  nnapi::OperandId id = model.outputs[output.index].operand;
  for (const nnapi::Operation& operation : model.operations) {
    if (operation.outputs[0] == id && operation.code == OperationCode::DEQUANTIZE) id = operation.inputs[0];
  }
  return {model.at(id).scale, model.at(id).zero_point};
}

}  // namespace

ModuleInterface make_interface(const NormalisedModel& normalised, const QuantBoundaries& boundaries,
                               const LoweredModel& lowered, const std::vector<TensorType>& original_types,
                               const std::vector<TensorType>& original_outputs,
                               const std::vector<TensorType>& output_types) {
  ModuleInterface interface { {}, lowered.outputs, normalised.return_tree };
  for (size_t i = 0; i < normalised.inputs.size(); ++i) {
    const InputBoundary& boundary = boundaries.inputs[i];
    interface.inputs.push_back({normalised.input_names[i], boundary.caller_type(), boundary.quantize,
                                is_read(normalised, i), original_types[i]});
  }
  interface.changed_inputs = normalised.changed_inputs;
  for (size_t i = 0; i < interface.outputs.size(); ++i) {
    InterfaceOutput& output = interface.outputs[i];
    output.dequantize = boundaries.outputs[i].dequantize;
    output.quantization = output_quantization(lowered.model, output, output_types[i]);
    output.dtype = output.dequantize ? at::kFloat : output_types[i].dtype;
    output.original_dtype = original_outputs[i].dtype;
  }
  return interface;
}

}  // namespace nnapi_convert
