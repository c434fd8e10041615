// Python's numbers in traced graphs.
//
// Tracing makes a constant tensor of rank 0 of a number that meets a tensor, float64 or int64, and PyTorch's archives
// don't keep that it was a number. Types are promoted differently then: sum(x) * 0.5 and arange(8) + 0.5 would be
// float64. In Python they are float32; so they are with LibTorch's optimised executor, but not with the lite
// interpreter.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// Marks such constants as numbers (c10::TensorImpl::is_wrapped_number), as ATen knows them.
void mark_numbers(torch::jit::Graph& graph);

// Gives operators that take numbers what is marked as numbers, which archives keep.
void use_scalars(torch::jit::Graph& graph);

// Gives operators copies of other constants of rank 0 whose dtype counts: LibTorch's executor makes numbers of
// constants, and int64 * 0.5 is float32 where the constant is a number, and float64 where it is a tensor of that dtype.
void keep_single_tensors(torch::jit::Graph& graph);

}  // namespace nnapi_convert
