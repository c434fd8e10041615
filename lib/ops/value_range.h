// SPDX-License-Identifier: BSD-3-Clause
// Finds the ranges of integer tensors before the model runs.
#pragma once

#include <optional>

#include "lib/ops/integer_range.h"
#include "lib/ops/op_arguments.h"

namespace nnapi_convert {

// Returns the range of the integers in a value of the graph. It follows from the nodes that compute the value, or from
// its readers if all of them take it as an index, as PyTorch raises an error for an index out of range. Returns nothing
// if neither tells the range, and for float tensors. An axis of unknown size is assumed to have at most 2^22 elements.
std::optional<IntegerRange> integer_range(const TorchValue& value, const TypeMap& types);

// Records the range of an input of a segment's graph, which doesn't have the node that makes the value.
void note_range(torch::jit::Value& input, const IntegerRange& range);

}  // namespace nnapi_convert
