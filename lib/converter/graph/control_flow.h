// The types of prim::If and prim::Loop that depend on the input and become NNAPI's IF and WHILE.
//
// A branch gives tensors, and numbers, which become tensors of rank 0; so does a round of a loop. What the branches
// give has one type and shape, and what a loop carries keeps its own.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <optional>

#include "lib/base/diagnostics.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// What stands before the values that a loop carries.
constexpr size_t kLoopInputs = 2;   // of prim::Loop: rounds, condition
constexpr size_t kBodyInputs = 1;   // of its body: the counter
constexpr size_t kBodyOutputs = 1;  // of its body: the condition

// True for prim::If and prim::Loop.
bool is_control_flow(const torch::jit::Node& node);

// The type of a tensor that is computed or constant.
std::optional<TensorType> tensor_type(const torch::jit::Value* value, const TypeMap& types);

// Before the blocks are typed: types what the body of a loop is given. Nothing to do for a prim::If.
std::optional<Refusal> begin_control_flow(torch::jit::Node* node, TypeMap& types);
// Once the blocks are typed: types the node's outputs.
std::optional<Refusal> end_control_flow(torch::jit::Node* node, TypeMap& types);

// The number of rounds that a loop may take at most, where that is constant; nothing where it is computed.
std::optional<int64_t> constant_rounds(const torch::jit::Node& loop);
// The same where it is a size that depends on the inputs' sizes; null for others.
const Dim* rounds_of_size(const torch::jit::Node& loop, const TypeMap& types);
// True if that number never ends a loop: its counter is an int32 on the device.
bool has_unlimited_rounds(const torch::jit::Node& loop);

}  // namespace nnapi_convert
