// What is known, before the model runs, of the numbers that integer tensors hold.
#pragma once

#include <optional>

#include "lib/ops/integer_range.h"
#include "lib/ops/op_arguments.h"

namespace nnapi_convert {

// The range of what a value of the graph holds: by how it is made, or by what reads it, where all readers take it as an
// index, which PyTorch refuses outside of what it counts. Nothing where that says nothing, or for float tensors. An
// axis of a size that isn't known yet is taken to have at most 2^22 elements.
std::optional<IntegerRange> integer_range(const TorchValue& value, const TypeMap& types);

// Keeps the range of an input of a graph that is a part of another, where what makes the value isn't seen.
void note_range(torch::jit::Value& input, const IntegerRange& range);

}  // namespace nnapi_convert
