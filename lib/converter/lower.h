// Lowers a typed graph to one NNAPI model by the rules.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/normalise.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Where an output of forward comes from. NNAPI can't return an input, a constant or one value twice: the wrapper does.
struct OutputSource {
  enum class Kind { kNnapi, kInput, kConstant };
  Kind kind = Kind::kNnapi;
  size_t index = 0;     // of NNAPI's output, or of forward's input
  at::Tensor constant;  // for kConstant
  TensorType type;
};

struct LoweredModel {
  nnapi::Model model;                      // its inputs are those inputs of forward that it reads
  std::vector<size_t> input_of_forward;    // for each input of the model, the input of forward
  std::vector<OutputSource> outputs;       // for each tensor that forward returns
  std::vector<Refusal> refusals;
};

LoweredModel lower(const NormalisedModel& normalised, const std::vector<TensorType>& input_types, const TypeMap& types,
                   Diagnostics& diagnostics);

}  // namespace nnapi_convert
