// Copies of quantised tensors that the CPU's part of a graph changes in place or keeps.
#pragma once

#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

inline const c10::Symbol kQuantize = c10::Symbol::fromQualString("aten::quantize_per_tensor");
inline const c10::Symbol kDequantize = c10::Symbol::fromQualString("aten::dequantize");

// Callers and the graph must not share what the graph changes in place, or keeps for the next call: quantize and
// dequantize make a tensor of their own, and a copy takes their place. `types` gets those of the copies.
void copy_changed_values(NormalisedModel& model, TypeMap& types);

}  // namespace nnapi_convert
