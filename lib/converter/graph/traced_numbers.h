// SPDX-License-Identifier: BSD-3-Clause
// Restores Python's numbers in traced graphs.
//
// In x * 0.5, tracing turns the number into a constant tensor of rank 0 and dtype float64 or int64, and PyTorch's
// archives don't keep that it was a number. Type promotion treats the tensor differently: sum(x) * 0.5 and
// arange(8) + 0.5 would be float64. In Python they are float32, and so they are in LibTorch's optimised executor, but
// not in the lite interpreter.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// Marks the constant tensors that were numbers in Python with ATen's flag c10::TensorImpl::is_wrapped_number.
void mark_numbers(torch::jit::Graph& graph);

// Replaces each marked tensor by a constant number where the operator has an overload for numbers. Archives keep
// constant numbers, but not the mark.
void use_scalars(torch::jit::Graph& graph);

// Inserts aten::detach behind unmarked constant tensors of rank 0 whose dtype affects type promotion. LibTorch's
// executor turns constants of rank 0 into numbers: int64 * 0.5 is float32 for a number, float64 for a float64 tensor.
void keep_single_tensors(torch::jit::Graph& graph);

}  // namespace nnapi_convert
