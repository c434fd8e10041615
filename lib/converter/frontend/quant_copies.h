// SPDX-License-Identifier: BSD-3-Clause
// Copies quantised tensors that the CPU's part of a graph changes in place or keeps.
#pragma once

#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

inline const c10::Symbol kQuantize = c10::Symbol::fromQualString("aten::quantize_per_tensor");
inline const c10::Symbol kDequantize = c10::Symbol::fromQualString("aten::dequantize");

// The caller and the graph must not share a tensor that the graph changes in place or keeps for the next call. The
// quantize of an input and the dequantize of an output make new tensors, but --quant may remove them: inserts a copy
// beside each of them, and adds the copy's type to `types`.
void copy_changed_values(NormalisedModel& model, TypeMap& types);

}  // namespace nnapi_convert
