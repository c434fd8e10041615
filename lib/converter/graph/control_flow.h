// SPDX-License-Identifier: BSD-3-Clause
// The types of prim::If and prim::Loop that depend on the input and become NNAPI's IF and WHILE.
//
// Branches and loop bodies return tensors and numbers; the numbers become tensors of rank 0. Both branches have to
// return the same type and shape, and each value that a loop carries has to keep its type and shape in all rounds.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <optional>

#include "lib/base/diagnostics.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// The numbers of inputs and outputs that stand before the values that a loop carries.
constexpr size_t kLoopInputs = 2;   // inputs of prim::Loop: rounds, condition
constexpr size_t kBodyInputs = 1;   // inputs of the loop's body: the counter
constexpr size_t kBodyOutputs = 1;  // outputs of the loop's body: the condition

// True for prim::If and prim::Loop.
bool is_control_flow(const torch::jit::Node& node);

// Returns the type of a computed or constant tensor; nothing for other values.
std::optional<TensorType> tensor_type(const torch::jit::Value* value, const TypeMap& types);

// Makes constant tensors of the constant numbers that a loop carries at its beginning, and makes its body take tensors.
// Returns whether there were such numbers.
bool carry_tensors(torch::jit::Node& loop);
// Makes constant tensors of the constant numbers that the node's blocks give, and makes the node's outputs tensors.
// Returns whether there were such numbers.
bool give_tensors(torch::jit::Node& node);

// Sets the types of the inputs of a loop's body; checks the condition of a prim::If. Call it before the node's blocks
// are typed.
std::optional<Refusal> begin_control_flow(const torch::jit::Node& node, TypeMap& types);
// Sets the types of the node's outputs. Call it once the node's blocks are typed.
std::optional<Refusal> end_control_flow(const torch::jit::Node& node, TypeMap& types);

// Returns the loop's greatest number of rounds if it is constant; nothing if it is computed.
std::optional<int64_t> constant_rounds(const torch::jit::Node& loop);
// Returns the loop's greatest number of rounds if it is a size of a tensor; null for other loops.
const Dim* rounds_of_size(const torch::jit::Node& loop, const TypeMap& types);
// True if the greatest number of rounds is above INT32_MAX: NNAPI's loop counter is an int32 and never gets there.
bool has_unlimited_rounds(const torch::jit::Node& loop);

}  // namespace nnapi_convert
