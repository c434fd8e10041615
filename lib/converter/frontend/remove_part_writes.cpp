// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/remove_part_writes.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "lib/converter/frontend/functional_form.h"
#include "lib/ops/node_place.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

// Returns the tensor that `view` is a view of, with `elements` in the place of the view's elements.
Value* write_back(Node& view, Value* elements) {
  Graph& graph = *view.owningGraph();
  Value* whole = view.input(0);
  const std::string kind = view.kind().toQualString();
  const auto insert = [&](const char* name, const std::vector<torch::jit::NamedValue>& arguments) {
    return graph.insert(c10::Symbol::aten(name), arguments);
  };
  if (kind == "aten::slice") {
    return insert("slice_scatter", {whole, elements, view.input(1), view.input(2), view.input(3), view.input(4)});
  }
  if (kind == "aten::select") return insert("select_scatter", {whole, elements, view.input(1), view.input(2)});
  if (kind == "aten::unsqueeze") return insert("squeeze", {elements, view.input(1)});
  if (kind == "aten::transpose") return insert("transpose", {elements, view.input(1), view.input(2)});
  if (kind == "aten::view") return insert("reshape_as", {elements, whole});
  return nullptr;
}

bool is_known_view(const Node& node) {
  static const char* const kinds[] = {"aten::slice", "aten::select", "aten::unsqueeze", "aten::transpose",
                                      "aten::view"};
  const std::string kind = node.kind().toQualString();
  const bool is_known = std::any_of(std::begin(kinds), std::end(kinds), [&](const char* each) { return kind == each; });
  return is_known && node.input(0)->type()->kind() == c10::TypeKind::TensorType;
}

Value* viewed_whole(Value* value) {
  while (is_known_view(*value->node())) value = value->node()->input(0);
  return value;
}

bool is_read_after(const Value& value, const Node* node) {
  return std::any_of(value.uses().begin(), value.uses().end(),
                     [&](const torch::jit::Use& use) { return use.user->isAfter(node); });
}

}  // namespace

PartWrite::PartWrite(Node* node) : node_(node), whole_(viewed_whole(node->input(0))) {}

bool PartWrite::is_removable(const torch::jit::AliasDb& aliases) {
  later_.clear();
  const auto consider = [&](Value* value) {
    if (!is_read_after(*value, node_) || value->type()->kind() == c10::TypeKind::ClassType) return true;
    if (value != whole_ && !aliases.mayContainAlias(whole_, value)) return true;
    later_.push_back(value);
    return viewed_whole(value) == whole_;
  };
  Graph& graph = *node_->owningGraph();
  const auto inputs = graph.inputs();
  if (!std::all_of(inputs.begin(), inputs.end(), consider)) return false;
  for (Node* before : graph.nodes()) {
    if (before == node_) break;
    const auto outputs = before->outputs();
    if (before->kind() != c10::prim::Constant && !std::all_of(outputs.begin(), outputs.end(), consider)) return false;
  }
  return true;
}

Value* PartWrite::remade(Value* view) {
  const auto found = changed_.find(view);
  if (found != changed_.end()) return found->second;
  Node* old = view->node();
  Value* parent = remade(old->input(0));
  Node* copy =
      old->owningGraph()->createClone(old, [&](Value* value) { return value == old->input(0) ? parent : value; });
  old->owningGraph()->insertNode(copy);
  return changed_[view] = copy->output();
}

void PartWrite::remove() {
  torch::jit::WithInsertPoint here(node_);
  Node* before = node_->prev();
  Value* elements = insert_functional_form(node_);
  for (Value* part = node_->input(0); part != whole_; part = part->node()->input(0)) {
    elements = write_back(*part->node(), elements);
  }
  changed_ = {{whole_, elements}};
  for (Value* value : later_) (void)remade(value);
  Value* result = remade(node_->input(0));
  for (Node* inserted = before->next(); inserted != node_; inserted = inserted->next()) {
    take_place(*inserted, *node_);
    inserted->setScope(node_->scope());
  }
  for (Value* value : later_) value->replaceAllUsesAfterNodeWith(node_, changed_.at(value));
  node_->output()->replaceAllUsesWith(result);
  node_->destroy();
}

}  // namespace nnapi_convert
