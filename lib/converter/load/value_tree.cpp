// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/value_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "lib/base/error.h"
#include "lib/converter/load/export_json.h"
#include "lib/format/json_nesting.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;
using torch::jit::Graph;
using torch::jit::Value;
using TreeKind = ValueTree::Kind;

bool is_one_of(const std::string& text, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* name) { return text == name; });
}

std::optional<TreeKind> kind_of(const std::string& type) {
  if (is_one_of(type, {"builtins.tuple", "collections.namedtuple"})) return TreeKind::kTuple;
  if (is_one_of(type, {"builtins.list", "collections.deque"})) return TreeKind::kList;
  if (is_one_of(type, {"builtins.dict", "collections.OrderedDict"})) return TreeKind::kDict;
  return std::nullopt;
}

// Returns the names of an object's fields where the file has them, one for each of its `count` values; else nothing.
// Transformers' outputs and caches have a list of them, dataclasses have that list before the names of fields that are
// None.
std::vector<std::string> fields_of(const std::string& context, size_t count) {
  if (is_nested_too_deep(context)) return {};
  const json parsed = json::parse(context, nullptr, false);
  if (!parsed.is_array() || parsed.empty()) return {};
  const json& names = parsed[0].is_array() ? parsed[0] : parsed;
  const bool are_names = names.size() == count && std::all_of(names.begin(), names.end(), [](const json& name) {
                           return name.is_string() && !name.get<std::string>().empty();
                         });
  return are_names ? names.get<std::vector<std::string>>() : std::vector<std::string>();
}

[[noreturn]] void refuse_class(const std::string& type) {
  throw ConvertError(
      ExitCode::kNotConvertible,
      fmt::format("forward takes or returns an object of class {}; tensors, tuples, lists and dicts "
                  "needed, or a class whose fields the file names; wrap the model in a module that takes "
                  "and returns these",
                  type));
}

std::vector<std::string> keys_of(const std::string& context) {
  std::vector<std::string> keys;
  const json values = parse_export(context);
  for (const json& key : list_of(values)) {
    if (!key.is_string()) {
      throw ConvertError(ExitCode::kNotConvertible,
                         fmt::format("forward takes or returns a dict with the key {}; strings needed", key.dump()));
    }
    keys.push_back(key.get<std::string>());
  }
  return keys;
}

ValueTree read_node(const json& node) {
  ValueTree tree;
  const json* type = find_member(node, "type");
  if (type == nullptr) return tree;
  for (const json& child : list_of(member(node, "children_spec"))) tree.elements.push_back(read_node(child));
  const auto kind = kind_of(text_of(*type));
  tree.kind = kind.value_or(TreeKind::kDict);
  if (tree.kind != TreeKind::kDict) return tree;
  if (!kind) {
    tree.class_name = text_of(*type);
    const json* context = find_member(node, "context");
    if (context != nullptr && context->is_string()) tree.keys = fields_of(text_of(*context), tree.elements.size());
    if (tree.keys.empty()) refuse_class(tree.class_name);
    return tree;
  }
  tree.keys = keys_of(text_member(node, "context"));
  if (tree.keys.size() != tree.elements.size()) {
    fail_export(fmt::format("a dict of {} keys and {} values found", tree.keys.size(), tree.elements.size()));
  }
  return tree;
}

c10::TypePtr container_type(TreeKind kind, const std::vector<c10::TypePtr>& elements) {
  const bool is_same =
      std::all_of(elements.begin(), elements.end(), [&](const c10::TypePtr& type) { return *type == *elements[0]; });
  if (kind == TreeKind::kTuple || !is_same) return c10::TupleType::create(elements);
  const c10::TypePtr element = elements.empty() ? c10::TensorType::get() : elements[0];
  if (kind == TreeKind::kList) return c10::ListType::create(element);
  return c10::DictType::create(c10::StringType::get(), element);
}

Value* element_of(Graph& graph, Value* container, const c10::IValue& key, const c10::TypePtr& type) {
  Value* element = graph.insert(c10::Symbol::aten("__getitem__"), {container, key});
  return element->setType(type);
}

std::vector<c10::IValue> elements_of(const ValueTree& tree, const c10::IValue& value) {
  std::vector<c10::IValue> elements;
  if (tree.kind == TreeKind::kDict && value.isGenericDict()) {
    const auto& dict = value.toGenericDict();
    for (const std::string& key : tree.keys) {
      if (dict.contains(key)) elements.push_back(dict.at(key));
    }
  } else if (tree.kind == TreeKind::kTuple && value.isTuple()) {
    elements = value.toTupleRef().elements().vec();
  } else if (value.isList()) {
    elements = value.toListRef().vec();
  }
  if (elements.size() != tree.elements.size()) fail_export("a sample input of another structure found");
  return elements;
}

}  // namespace

ValueTree read_tree(std::string_view text) {
  const json versioned = parse_export(text);
  if (list_of(versioned).size() != 2) fail_export("a structure of values without its version found");
  return read_node(versioned[1]);
}

size_t leaf_count(const ValueTree& tree) {
  if (tree.kind == TreeKind::kLeaf) return 1;
  size_t count = 0;
  for (const ValueTree& element : tree.elements) count += leaf_count(element);
  return count;
}

c10::TypePtr type_of(const ValueTree& tree, const std::vector<c10::TypePtr>& leaves, size_t& next) {
  if (tree.kind == TreeKind::kLeaf) return leaves.at(next++);
  std::vector<c10::TypePtr> elements;
  for (const ValueTree& element : tree.elements) elements.push_back(type_of(element, leaves, next));
  return container_type(tree.kind, elements);
}

Value* put_together(Graph& graph, const ValueTree& tree, const std::vector<Value*>& leaves, size_t& next) {
  if (tree.kind == TreeKind::kLeaf) return leaves.at(next++);
  std::vector<Value*> elements;
  std::vector<c10::TypePtr> types;
  for (const ValueTree& element : tree.elements) {
    elements.push_back(put_together(graph, element, leaves, next));
    types.push_back(elements.back()->type());
  }
  const c10::TypePtr type = container_type(tree.kind, types);
  if (type->kind() == c10::TypeKind::TupleType) return graph.insertNode(graph.createTuple(elements))->output();
  if (type->kind() == c10::TypeKind::ListType) {
    return graph.insertNode(graph.createList(type->expectRef<c10::ListType>().getElementType(), elements))->output();
  }
  std::vector<Value*> keys;
  for (const std::string& key : tree.keys) keys.push_back(graph.insertConstant(key));
  const c10::TypePtr element = type->expectRef<c10::DictType>().getValueType();
  return graph.insertNode(graph.createDict(c10::StringType::get(), element, keys, elements))->output();
}

void take_apart(Graph& graph, const ValueTree& tree, Value* value, std::vector<Value*>& leaves) {
  if (tree.kind == TreeKind::kLeaf) {
    leaves.push_back(value);
    return;
  }
  if (value->type()->kind() == c10::TypeKind::TupleType) {
    const auto parts = graph.insertNode(graph.createTupleUnpack(value))->outputs();
    for (size_t i = 0; i < tree.elements.size(); ++i) take_apart(graph, tree.elements[i], parts[i], leaves);
    return;
  }
  const c10::TypePtr type = value->type()->containedTypes().back();
  for (size_t i = 0; i < tree.elements.size(); ++i) {
    const c10::IValue key =
        tree.kind == TreeKind::kDict ? c10::IValue(tree.keys[i]) : c10::IValue(static_cast<int64_t>(i));
    take_apart(graph, tree.elements[i], element_of(graph, value, key, type), leaves);
  }
}

c10::IValue sample_of(const ValueTree& tree, const c10::TypePtr& type, const c10::IValue& value) {
  if (tree.kind == TreeKind::kLeaf) {
    if (!value.isTensor() && type->kind() == c10::TypeKind::TensorType) {
      fail_export("a sample input of another structure found");
    }
    return value;
  }
  const std::vector<c10::IValue> elements = elements_of(tree, value);
  std::vector<c10::IValue> converted;
  for (size_t i = 0; i < elements.size(); ++i) {
    const auto& types = type->containedTypes();
    converted.push_back(
        sample_of(tree.elements[i], type->kind() == c10::TypeKind::TupleType ? types[i] : types.back(), elements[i]));
  }
  if (type->kind() == c10::TypeKind::TupleType) return c10::ivalue::Tuple::create(converted);
  if (type->kind() == c10::TypeKind::ListType) {
    c10::impl::GenericList list(type->containedTypes()[0]);
    for (const c10::IValue& each : converted) list.push_back(each);
    return list;
  }
  c10::impl::GenericDict dict(c10::StringType::get(), type->containedTypes()[1]);
  for (size_t i = 0; i < converted.size(); ++i) dict.insert_or_assign(tree.keys[i], converted[i]);
  return dict;
}

}  // namespace nnapi_convert
