// SPDX-License-Identifier: BSD-3-Clause
// Inserts plain operators that replace a composite node.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

#include <optional>
#include <string>
#include <vector>

#include "lib/ops/node_place.h"

namespace nnapi_convert {

// Returns the node's argument of this name in the schema.
inline torch::jit::Value* argument(torch::jit::Node* node, const std::string& name) {
  return node->input(static_cast<size_t>(*node->schema().argumentIndexWithName(name)));
}

// Returns the node's argument of this name if it is a constant; nothing if it is computed.
inline std::optional<c10::IValue> known(torch::jit::Node* node, const std::string& name) {
  const auto value = torch::jit::toIValue(argument(node, name));
  return value ? std::optional<c10::IValue>(*value) : std::nullopt;
}

// True if the node's argument of this name is known to be None.
inline bool is_none(torch::jit::Node* node, const std::string& name) {
  const auto value = known(node, name);
  return value && value->isNone();
}

// Replaces the node's results and destroys the node. A result that is null has no use.
inline void replace_by(torch::jit::Node* node, const std::vector<torch::jit::Value*>& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i] != nullptr) node->output(i)->replaceAllUsesWith(results[i]);
  }
  node->destroy();
}

// Inserts operators of ATen before the node that they replace, with that node's source line and scope.
class PlainCalls {
 public:
  explicit PlainCalls(torch::jit::Node* node) : graph_(*node->owningGraph()), node_(node), guard_(node) {}

  // Inserts an operator and returns its result; a tuple if the operator has several results.
  torch::jit::Value* insert(const char* name, const std::vector<torch::jit::NamedValue>& arguments,
                            const std::vector<torch::jit::NamedValue>& named = {}) {
    const torch::jit::Node* before = node_->prev();
    torch::jit::Value* result = graph_.insert(c10::Symbol::aten(name), arguments, named);
    for (torch::jit::Node* made = node_->prev(); made != before; made = made->prev()) {
      take_place(*made, *node_);
      made->setScope(node_->scope());
    }
    return result;
  }

  torch::jit::Value* linear(torch::jit::Value* input, const at::Tensor& weight, const at::Tensor& bias) {
    return insert("linear", {input, constant(weight), constant(bias)});
  }

  torch::jit::Value* constant(const c10::IValue& value) { return graph_.insertConstant(value); }
  torch::jit::Value* none() { return constant(c10::IValue()); }
  torch::jit::Value* list(const std::vector<torch::jit::Value*>& tensors) {
    return graph_.insertNode(graph_.createList(c10::TensorType::get(), tensors))->output();
  }

 protected:
  torch::jit::Graph& graph() { return graph_; }

 private:
  torch::jit::Graph& graph_;
  torch::jit::Node* node_;
  torch::jit::WithInsertPoint guard_;
};

}  // namespace nnapi_convert
