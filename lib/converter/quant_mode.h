// Puts the boundary between float and quantised tensors where --quant asks for it.
#pragma once

#include <optional>
#include <vector>

#include "lib/converter/normalised_model.h"
#include "lib/converter/options.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// What the TorchScript wrapper does around NNAPI.
struct InputBoundary {
  TensorType type;                       // of NNAPI's input
  std::optional<Quantization> quantize;  // the caller's tensor is float32 and is quantised on the CPU first
  TensorType caller_type() const { return quantize ? TensorType{at::kFloat, type.dims, {}} : type; }
};

struct OutputBoundary {
  bool dequantize = false;  // NNAPI's output is dequantised on the CPU
};

struct QuantBoundaries {
  QuantMode mode = QuantMode::kNone;  // the mode taken: never kAuto
  std::vector<InputBoundary> inputs;
  std::vector<OutputBoundary> outputs;
};

// Edits the model's graph, whose values have the given types. Throws ConvertError (kNotConvertible) where the mode
// can't be had, saying what would make it possible.
QuantBoundaries apply_quant_mode(NormalisedModel& model, const std::vector<TensorType>& input_types,
                                 const TypeMap& value_types, QuantMode mode);

// float32 input -> quantize to quint8 -> what read the input so far.
torch::jit::Node* insert_quantize(NormalisedModel& model, torch::jit::Value* input, const Quantization& quantization);
// At the end of the graph.
torch::jit::Node* insert_dequantize(NormalisedModel& model, torch::jit::Value* value);

}  // namespace nnapi_convert
