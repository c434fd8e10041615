// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/samples/reference_values.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <algorithm>
#include <set>

#include "lib/converter/graph/glue.h"
#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

bool is_tensor(const Value& value) {
  return value.type()->kind() == c10::TypeKind::TensorType;
}

void name_block(Block& block, std::unordered_map<std::string, Value*>& values) {
  for (Value* input : block.inputs()) values[input->debugName()] = input;
  for (Node* node : block.nodes()) {
    for (Value* output : node->outputs()) values[output->debugName()] = output;
    for (Block* inner : node->blocks()) name_block(*inner, values);
  }
}

}  // namespace

// Makes the graph append records to two lists, which it returns: the numbers of the records' slots, and a copy of each
// recorded tensor. The slot of a run's beginning has no tensor.
class Reference::Recording {
 public:
  Recording(Reference& reference, Graph& graph) : reference_(reference), graph_(graph) {
    name_block(*graph.block(), values_);
  }

  void run(const std::vector<ReferenceRequest>& requests) {
    Node* first = *graph_.nodes().begin();
    while (!graph_.outputs().empty()) graph_.eraseOutput(0);
    torch::jit::WithInsertPoint here(first);
    numbers_ = graph_.insertNode(graph_.createList(c10::IntType::get(), {}))->output();
    tensors_ = graph_.insertNode(graph_.createList(c10::TensorType::get(), {}))->output();
    none_ = graph_.insertNode(graph_.createNone())->output();
    begin_ = none_->node();
    for (size_t i = 0; i < requests.size(); ++i) record(i, requests[i]);
    graph_.registerOutput(numbers_);
    graph_.registerOutput(tensors_);
  }

 private:
  void record(size_t number, const ReferenceRequest& request) {
    const std::vector<Value*> made = known(request.made);
    Block* block = outermost(made);
    Node* begin = block == graph_.block() ? begin_->next() : *block->nodes().begin();
    append_number(begin, {number, ""});
    const std::vector<Value*> read = known(request.read);
    for (Value* value : known(request.wanted)) {
      const bool is_read = std::find(read.begin(), read.end(), value) != read.end();
      if (!is_read && value->node()->owningBlock() == block) append(value, after(*value, begin), number);
    }
    for (Value* value : read) record_read(value, begin, number, made);
  }

  // Returns the outermost of the blocks that make the values.
  Block* outermost(const std::vector<Value*>& values) const {
    Block* block = values.empty() ? graph_.block() : values[0]->node()->owningBlock();
    for (const Value* value : values) {
      const Node* owner = block->owningNode();
      if (owner != nullptr && !is_made_inside(*value, *owner)) block = const_cast<Node*>(value->node())->owningBlock();
    }
    return block;
  }

  // Returns the first node that can read the value: a block's inputs are there from its beginning on.
  static Node* after(Value& value, Node* begin) {
    return value.node()->kind() == c10::prim::Param ? begin : value.node()->next();
  }

  std::vector<Value*> known(const std::vector<std::string>& names) const {
    std::vector<Value*> values;
    for (const std::string& name : names) {
      const auto found = values_.find(name);
      if (found != values_.end() && is_tensor(*found->second)) values.push_back(found->second);
    }
    return values;
  }

  // Records the value before each node that computes one of `made` from it: nothing changes it between record and node.
  // Without such a node, records it as soon as it is made.
  void record_read(Value* value, Node* begin, size_t number, const std::vector<Value*>& made) {
    std::set<Node*> readers;
    for (Value* each : made) {
      const bool is_of_block = each->node()->owningBlock() == begin->owningBlock();
      if (is_of_block && reads(*each->node(), *value)) readers.insert(each->node());
    }
    for (Node* reader : readers) append(value, reader, number);
    if (!readers.empty()) return;
    const bool is_of_block = value->node()->owningBlock() == begin->owningBlock();
    append(value, is_of_block ? after(*value, begin) : begin, number);
  }

  static bool reads(Node& node, const Value& value) {
    const auto inputs = node.inputs();
    return std::any_of(inputs.begin(), inputs.end(), [&](Value* input) {
      return input == &value || (is_glue(*input->node()) && reads(*input->node(), value));
    });
  }

  void append(Value* value, Node* before, size_t number) {
    append_number(before, {number, value->debugName()});
    Node* copy = graph_.create(c10::aten::clone, {value, none_});
    copy->insertBefore(before);
    append_to(tensors_, copy->output(), before);
  }

  void append_number(Node* before, Slot slot) {
    torch::jit::WithInsertPoint here(before);
    append_to(numbers_, graph_.insertConstant(static_cast<int64_t>(reference_.slots_.size())), before);
    reference_.slots_.push_back(std::move(slot));
  }

  void append_to(Value* list, Value* element, Node* before) {
    Node* node = graph_.create(c10::aten::append, {list, element});
    node->output()->setType(list->type());
    node->insertBefore(before);
  }

  Reference& reference_;
  Graph& graph_;
  std::unordered_map<std::string, Value*> values_;
  Value *numbers_ = nullptr, *tensors_ = nullptr, *none_ = nullptr;
  Node* begin_ = nullptr;  // the last of the nodes that the recording begins with
};

Reference::Reference(NormalisedModel model, const std::vector<ReferenceRequest>& requests)
    : model_(std::move(model)), requests_(requests.size()) {
  Recording(*this, *model_.graph).run(requests);
  code_ = std::make_shared<const torch::jit::Code>(model_.graph, "forward");
}

std::vector<std::vector<ReferenceValues>> Reference::run(const std::vector<at::Tensor>& inputs) const {
  torch::jit::Stack stack = {model_.frozen._ivalue()};
  stack.insert(stack.end(), inputs.begin(), inputs.end());
  {
    const c10::InferenceMode guard;
    torch::jit::InterpreterState(*code_).run(stack);
  }
  std::vector<std::vector<ReferenceValues>> result(requests_);
  const std::vector<at::Tensor> tensors = stack.at(1).toTensorVector();
  size_t next = 0;
  for (const int64_t number : stack.at(0).toIntVector()) {
    const Slot& slot = slots_[static_cast<size_t>(number)];
    std::vector<ReferenceValues>& runs = result[slot.request];
    if (slot.name.empty()) {
      runs.emplace_back();
    } else {
      runs.back().emplace(slot.name, tensors[next++]);  // keeps the first of several
    }
  }
  return result;
}

}  // namespace nnapi_convert
