// SPDX-License-Identifier: BSD-3-Clause
// Removes lists and casts that stay in a script's graph when its branches and loops are resolved.
#include "lib/converter/frontend/known_elements.h"
#include "lib/converter/graph/glue.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/runtime/slice_indices_adjust.h>

#include <cstdint>
#include <optional>
#include <string>

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Value;

bool is_kind(const Node& node, const char* kind) {
  return std::string(node.kind().toQualString()) == kind;
}

std::vector<Value*> constants_of(const c10::IValue& list, Node& reader) {
  std::vector<Value*> elements;
  torch::jit::WithInsertPoint here(&reader);
  for (const c10::IValue& element : list.toListRef()) elements.push_back(reader.owningGraph()->insertConstant(element));
  return elements;
}

// Returns the tensors of a list that an operator returns and only `reader` reads.
std::optional<std::vector<Value*>> unpacked(Value* list, Node& reader, const TypeMap& types) {
  const auto found = types.find(list);
  const auto* tensors = found == types.end() ? nullptr : std::get_if<TensorTypes>(&found->second);
  if (tensors == nullptr || list->uses().size() != 1) return std::nullopt;
  Node* unpack = reader.owningGraph()->createListUnpack(list, tensors->size());
  unpack->insertBefore(&reader);
  unpack->setSourceRange(reader.sourceRange());
  return std::vector<Value*>(unpack->outputs().begin(), unpack->outputs().end());
}

std::optional<std::vector<Value*>> elements_of(Value* list, Node& reader, const TypeMap& types) {
  const auto type = list->type()->cast<c10::ListType>();
  if (!type || type->getElementType()->kind() != c10::TypeKind::TensorType) return std::nullopt;
  Node* maker = list->node();
  if (const auto constant = torch::jit::toIValue(list)) return constants_of(*constant, reader);
  if (maker->kind() != c10::prim::ListConstruct) return unpacked(list, reader, types);
  if (!is_glue(*maker)) return std::nullopt;
  return std::vector<Value*>(maker->inputs().begin(), maker->inputs().end());
}

std::vector<Value*> new_list(Node& node, const std::vector<Value*>& elements) {
  Node* list = node.owningGraph()->createList(c10::TensorType::get(), elements);
  list->insertBefore(&node);
  list->setSourceRange(node.sourceRange());
  return {list->output()};
}

// Replaces list + list, or list(x), by one new list.
std::vector<Value*> joined(Node& node, const TypeMap& types) {
  std::vector<Value*> elements;
  for (Value* list : node.inputs()) {
    const auto more = elements_of(list, node, types);
    if (!more) return {};
    elements.insert(elements.end(), more->begin(), more->end());
  }
  return new_list(node, elements);
}

// Replaces list[begin:end:step] by a new list, if the three numbers are known.
std::vector<Value*> sliced(Node& node, const TypeMap& types) {
  const auto begin = torch::jit::toIValue(node.input(1)), end = torch::jit::toIValue(node.input(2)),
             step = torch::jit::toIValue(node.input(3));
  if (!begin || !end || !step || step->toInt() == 0) return {};
  const auto elements = elements_of(node.input(0), node, types);
  if (!elements) return {};
  const bool is_backwards = step->toInt() < 0;
  int64_t from = begin->isNone() ? (is_backwards ? INT64_MAX : 0) : begin->toInt();
  int64_t to = end->isNone() ? (is_backwards ? INT64_MIN : INT64_MAX) : end->toInt();
  const auto size = static_cast<int64_t>(elements->size());
  std::vector<Value*> picked(static_cast<size_t>(torch::jit::slice_indices_adjust(size, &from, &to, step->toInt())));
  for (size_t i = 0; i < picked.size(); ++i) {
    picked[i] = (*elements)[static_cast<size_t>(from + static_cast<int64_t>(i) * step->toInt())];
  }
  return new_list(node, picked);
}

}  // namespace

std::vector<Value*> known_elements(Node& node, const TypeMap& types) {
  const bool is_cast = node.kind() == c10::prim::unchecked_cast || is_kind(node, "aten::_unwrap_optional");
  if (is_cast && node.input()->type()->isSubtypeOf(*node.output()->type())) return {node.input()};
  if (node.kind() == c10::prim::ListUnpack && node.input()->node()->kind() == c10::prim::ListConstruct) {
    const auto elements = elements_of(node.input(), node, types);
    return elements && elements->size() == node.outputs().size() ? *elements : std::vector<Value*>();
  }
  const c10::FunctionSchema* schema = node.maybeSchema();
  const bool is_of_list = schema != nullptr && schema->overload_name() == "t";
  const bool is_new_list = is_of_list && (schema->name() == "aten::add" || schema->name() == "aten::list");
  if (is_new_list) return joined(node, types);
  return is_of_list && schema->name() == "aten::slice" ? sliced(node, types) : std::vector<Value*>();
}

}  // namespace nnapi_convert
