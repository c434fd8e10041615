// SPDX-License-Identifier: BSD-3-Clause
// Moves the boundary between float and quantised tensors to the place that --quant asks for.
#pragma once

#include <optional>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/op_context.h"
#include "lib/types/options.h"

namespace nnapi_convert {

// The steps of the TorchScript wrapper before NNAPI's call, for one input.
struct InputBoundary {
  TensorType type;                       // type of NNAPI's input
  std::optional<Quantization> quantize;  // the CPU quantises the caller's float32 tensor with these parameters
  bool takes_bytes = false;              // the caller passes uint8, whose bytes are the codes of NNAPI's input
  TensorType caller_type() const {
    if (takes_bytes) return {at::kByte, type.dims, {}};
    return quantize ? TensorType{at::kFloat, type.dims, {}} : type;
  }
};

struct OutputBoundary {
  bool dequantize = false;  // the CPU dequantises NNAPI's output
};

struct QuantBoundaries {
  QuantMode mode = QuantMode::kNone;  // the mode taken: never kAuto
  bool is_edited = false;             // the graph was changed
  std::vector<InputBoundary> inputs;
  std::vector<OutputBoundary> outputs;
};

// Edits the model's graph, whose values have the given types. Throws ConvertError (kNotConvertible) if the mode is
// impossible for the model; the message says what would make it possible.
//
// If the CPU runs parts of the graph, nodes of the graph quantise and dequantise on the CPU, not steps of a wrapper;
// the input boundaries are then the graph's inputs. Quantised tensors inside the graph stay as they are. With the modes
// auto and none such a graph keeps its interface; a warning names results of unknown type that may be quantised.
QuantBoundaries apply_quant_mode(NormalisedModel& model, const std::vector<TensorType>& input_types,
                                 const TypeMap& value_types, QuantMode mode, Diagnostics& diagnostics);

// True for the nodes that the CPU has to run with --quant core, if the CPU runs parts of the graph.
bool quantises_on_cpu(const torch::jit::Node& node);

// Returns the scale and zero point of a quantised result, or of the tensor that is dequantised to make the result; none
// for other results.
Quantization quantization_of_result(const torch::jit::Value& result, const TypeMap& types);

}  // namespace nnapi_convert
