// SPDX-License-Identifier: BSD-3-Clause
// Hands inputs of dtype uint8, such as the pixels of a camera, to NNAPI. NNAPI has 8-bit integers as quantised tensors
// only: with the scale 1 and the zero point 0, quint8 holds the same numbers in the same bytes.
#pragma once

#include "lib/converter/frontend/quant_mode.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Edits the graph, whose values have the given types: an input of dtype uint8 becomes quint8, and what makes float32 of
// it becomes, or comes after, aten::dequantize. Leaves an input as it is if anything else reads it than operators that
// move its elements and elementwise operators with results of float32. Returns true if it changed the graph.
//
// If NNAPI runs the whole graph, the input's boundary becomes quint8; else a node of the graph makes quint8 of the
// caller's uint8 on the CPU. Throws ConvertError (kNotConvertible) if NNAPI runs the whole graph and
// an input of dtype uint8 stays.
bool hand_over_bytes(NormalisedModel& model, const TypeMap& types, QuantBoundaries& boundaries);

}  // namespace nnapi_convert
