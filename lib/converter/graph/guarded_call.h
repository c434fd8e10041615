// SPDX-License-Identifier: BSD-3-Clause
// Runs operators at conversion. Some arguments end the process inside LibTorch, by a signal of the processor or by an
// exception that nobody can catch, and some operators end after hours: these are refused before LibTorch is asked.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <cstdint>

namespace nnapi_convert {

// Tensors of more elements are neither read nor made at conversion; NNAPI's are smaller.
constexpr int64_t kMostEarlyElements = int64_t{1} << 31;

// True if LibTorch can compute the node on these arguments, and the process lives.
bool may_be_called(const torch::jit::Node& node, const torch::jit::Stack& arguments);

// Replaces the arguments by the results. Throws std::runtime_error where may_be_called() is false or a result has too
// many elements, and what the operator throws.
void call_operator(const torch::jit::Node& node, torch::jit::Stack& stack);

// True if all tensors have at most kMostEarlyElements elements.
bool has_few_elements(const torch::jit::Stack& values);

}  // namespace nnapi_convert
