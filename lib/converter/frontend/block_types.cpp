// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/block_types.h"

#include <algorithm>

#include "lib/converter/graph/control_flow.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

// True for a value that no run reads: its branch raises an error or leaves the loop.
bool is_uninitialized(const Value& value) {
  const Node& maker = *value.node();
  if (maker.kind() != c10::prim::If) return maker.kind() == c10::prim::Uninitialized;
  const auto blocks = maker.blocks();
  return std::all_of(blocks.begin(), blocks.end(),
                     [&](const Block* block) { return is_uninitialized(*block->outputs()[value.offset()]); });
}

}  // namespace

bool same_type(const TensorType& a, const TensorType& b) {
  return a.dtype == b.dtype && a.dims == b.dims && a.quantization == b.quantization;
}

KnownTypes carried_types(Node& loop, const TypeMap& types, const InferTypes& infer_types) {
  if (is_nested_too_deep(loop)) return KnownTypes(loop.blocks()[0]->inputs().size());
  KnownTypes carried;
  for (size_t i = kLoopInputs; i < loop.inputs().size(); ++i) carried.push_back(known_type(loop.input(i), types));
  for (bool is_fixed = false; !is_fixed;) {  // each round but the last one makes a type unknown
    is_fixed = true;
    std::vector<Known> given = {Known()};
    for (const auto& type : carried) given.push_back(type ? Known(*type) : Known());
    const std::vector<Known> after = after_round(loop, types, given, infer_types);
    for (size_t i = 0; i < carried.size(); ++i) {
      const auto* type = std::get_if<TensorType>(&after[i + kBodyOutputs]);
      if (!carried[i] || (type != nullptr && same_type(*carried[i], *type))) continue;
      carried[i].reset();
      is_fixed = false;
    }
  }
  carried.insert(carried.begin(), std::nullopt);
  return carried;
}

KnownTypes carried_by(const Node& loop, const TypeMap& types) {
  KnownTypes result;
  const auto inputs = loop.blocks()[0]->inputs();
  for (size_t i = kBodyInputs; i < inputs.size(); ++i) result.push_back(known_type(inputs[i], types));
  return result;
}

KnownTypes branch_types(const Node& branch, const TypeMap& types) {
  KnownTypes result;
  for (size_t i = 0; i < branch.outputs().size(); ++i) {
    std::optional<TensorType> common;
    bool agree = true;
    for (const Block* block : branch.blocks()) {
      const Value* output = block->outputs()[i];
      if (is_uninitialized(*output)) continue;
      const auto type = known_type(output, types);
      agree = agree && type && (!common || same_type(*common, *type));
      common = type;
    }
    result.push_back(agree ? common : std::nullopt);
  }
  return result;
}

}  // namespace nnapi_convert
