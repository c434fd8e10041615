// Puts the boundary between float and quantised tensors where --quant asks for it.
#pragma once

#include <optional>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/options/options.h"
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
  bool is_edited = false;             // the graph was changed
  std::vector<InputBoundary> inputs;
  std::vector<OutputBoundary> outputs;
};

// Edits the model's graph, whose values have the given types. Throws ConvertError (kNotConvertible) where the mode
// can't be had, saying what would make it possible.
//
// Where the CPU runs parts of the graph, quantising and dequantising on the CPU are nodes of it, not steps of a
// wrapper: the inputs are what the graph takes. Inside, quantised tensors stay as they are. With auto and none such a
// graph keeps its interface; results that may be quantised, where that isn't known, are warned of.
QuantBoundaries apply_quant_mode(NormalisedModel& model, const std::vector<TensorType>& input_types,
                                 const TypeMap& value_types, QuantMode mode, Diagnostics& diagnostics);

// True for the nodes that --quant core has the CPU run, where it runs parts of the graph.
bool quantises_on_cpu(const torch::jit::Node& node);

// Of a result that is dequantised last: the scale and zero point it had; none for others that are float.
Quantization quantization_of_result(const torch::jit::Value& result, const TypeMap& types);

}  // namespace nnapi_convert
