// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/arguments.h"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <optional>
#include <set>

#include "lib/base/error.h"
#include "lib/base/value_path.h"
#include "lib/base/written_value.h"
#include "lib/serialize/source_text.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;
using Kind = ArgumentTree::Kind;

bool holds_tensors(const c10::Type& type) {
  if (type.kind() == c10::TypeKind::TensorType) return true;
  const auto contained = type.containedTypes();
  return std::any_of(contained.begin(), contained.end(), [](const auto& part) { return holds_tensors(*part); });
}

// Returns the key of a dict that a text means; nothing for text that is no key of this type.
std::optional<c10::IValue> key_of(const c10::Type& type, const std::string& text) {
  switch (type.kind()) {
    case c10::TypeKind::StringType:
      return c10::IValue(text);
    case c10::TypeKind::IntType:
      if (const auto number = whole_number(text)) return c10::IValue(*number);
      return std::nullopt;
    case c10::TypeKind::FloatType:
      if (const auto number = decimal_number(text)) return c10::IValue(*number);
      return std::nullopt;
    case c10::TypeKind::BoolType:
      if (const auto value = true_or_false(text)) return c10::IValue(*value);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// Returns the number of an element of a tuple that a step of a path means: an index, or a field of a NamedTuple.
std::optional<size_t> element_of(const c10::TupleType& tuple, const std::string& step) {
  const size_t count = tuple.elements().size();
  if (const auto index = whole_number(step)) {
    return *index >= 0 && static_cast<size_t>(*index) < count ? std::optional<size_t>(*index) : std::nullopt;
  }
  if (!tuple.schema()) return std::nullopt;
  for (size_t i = 0; i < count; ++i) {
    if (tuple.schema()->arguments()[i].name() == step) return i;
  }
  return std::nullopt;
}

// Returns the one step that leads to an element of a tuple.
ValuePath::Step step_to(const c10::TupleType& tuple, size_t element) {
  if (!tuple.schema()) return {std::to_string(element)};
  return {tuple.schema()->arguments()[element].name(), true};
}

// Returns the step as it is written for a value of this type, and sets the type to the element's. Nothing: the type has
// no such element.
std::optional<ValuePath::Step> known_step(c10::TypePtr& type, const ValuePath::Step& step) {
  if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  if (const auto tuple = type->cast<c10::TupleType>()) {
    const auto element = element_of(*tuple, step.name);
    if (!element) return std::nullopt;
    type = tuple->elements()[*element];
    return step_to(*tuple, *element);
  }
  if (step.is_field) return std::nullopt;
  if (const auto list = type->cast<c10::ListType>()) {
    const auto index = whole_number(step.name);
    type = list->getElementType();
    return index ? std::optional(ValuePath::Step{std::to_string(*index)}) : std::nullopt;
  }
  if (const auto dict = type->cast<c10::DictType>()) {
    const auto key = key_of(*dict->getKeyType(), step.name);
    type = dict->getValueType();
    return key ? std::optional(ValuePath::Step{key_text(*key)}) : std::nullopt;
  }
  return std::nullopt;
}

// Returns the tree of a value that is always the same.
ArgumentTree bound_tree(ArgumentTree tree, const c10::IValue& value) {
  tree.kind = value.isNone() ? Kind::kNone : Kind::kBound;
  tree.bound = value;
  return tree;
}

class Reading {
 public:
  Reading(const std::vector<std::string>& names, const BoundValues& bound) : bound_(bound) {
    for (const auto& each : bound) {
      if (auto path = parse_path(each.first)) bound_paths_.push_back(std::move(*path));
    }
    paths_ = bound_paths_;
    for (const std::string& name : names) {
      if (auto path = parse_path(name)) paths_.push_back(std::move(*path));
    }
  }

  ArgumentTree read(const c10::TypePtr& type, const ValuePath& path, const c10::IValue* sample,
                    bool may_be_none = false) const {
    ArgumentTree tree;
    tree.type = type;
    tree.path = to_text(path);
    if (const auto found = bound_.find(tree.path); found != bound_.end())
      return bound_tree(std::move(tree), found->second);
    if (is_named(path)) sample = nullptr;
    if (const auto optional = type->cast<c10::OptionalType>()) {
      return read_optional(std::move(tree), path, optional->getElementType(), sample, may_be_none);
    }
    fill(tree, path, type, sample);
    return tree;
  }

 private:
  // True if `path` is named, or a part of it.
  static bool leads_to(const ValuePath& path, const ValuePath& name) {
    return path.argument == name.argument && path.steps.size() <= name.steps.size() &&
           std::equal(path.steps.begin(), path.steps.end(), name.steps.begin());
  }

  bool is_named(const ValuePath& path) const {
    return std::any_of(paths_.begin(), paths_.end(), [&](const ValuePath& name) { return leads_to(path, name); });
  }

  // Returns the steps behind the path in the names, each once.
  std::vector<std::string> steps_behind(const ValuePath& path) const {
    std::vector<std::string> result;
    for (const ValuePath& name : paths_) {
      if (!leads_to(path, name) || name.steps.size() == path.steps.size()) continue;
      const std::string& step = name.steps[path.steps.size()].name;
      if (std::find(result.begin(), result.end(), step) == result.end()) result.push_back(step);
    }
    return result;
  }

  ArgumentTree read_optional(ArgumentTree tree, const ValuePath& path, const c10::TypePtr& element,
                             const c10::IValue* sample, bool may_be_none) const {
    const bool is_given = is_named(path) || (sample != nullptr && !sample->isNone());
    if (!is_given) {
      if (may_be_none || sample != nullptr) tree.kind = Kind::kNone;
      return tree;
    }
    tree.is_given = holds_tensors(*element) || has_bound_parts(path);
    if (tree.is_given) fill(tree, path, element, sample);
    return tree;
  }

  // True if a part of the value is bound.
  bool has_bound_parts(const ValuePath& path) const {
    return std::any_of(bound_paths_.begin(), bound_paths_.end(),
                       [&](const ValuePath& name) { return leads_to(path, name); });
  }

  void fill(ArgumentTree& tree, const ValuePath& path, const c10::TypePtr& type, const c10::IValue* sample) const {
    if (!holds_tensors(*type) && !has_bound_parts(path)) return;
    if (const auto list = type->cast<c10::ListType>()) {
      fill_list(tree, path, list->getElementType(), sample);
    } else if (const auto dict = type->cast<c10::DictType>()) {
      fill_dict(tree, path, *dict, sample);
    } else if (const auto tuple = type->cast<c10::TupleType>()) {
      tree.kind = Kind::kTuple;
      for (size_t i = 0; i < tuple->elements().size(); ++i) {
        add(tree, path, tuple->elements()[i], step_to(*tuple, i),
            sample == nullptr ? nullptr : &sample->toTupleRef().elements()[i]);
      }
    }
  }

  void add(ArgumentTree& tree, const ValuePath& path, const c10::TypePtr& type, ValuePath::Step step,
           const c10::IValue* sample) const {
    ValuePath element = path;
    element.steps.push_back(std::move(step));
    tree.elements.push_back(read(type, element, sample));
  }

  void fill_list(ArgumentTree& tree, const ValuePath& path, const c10::TypePtr& element,
                 const c10::IValue* sample) const {
    const std::vector<std::string> given = steps_behind(path);
    const size_t count = sample != nullptr ? sample->toListRef().size() : given.size();
    if (sample == nullptr && count == 0) return;
    tree.kind = Kind::kList;
    for (size_t i = 0; i < count; ++i) {
      const std::string index = std::to_string(i);
      if (sample == nullptr && std::find(given.begin(), given.end(), index) == given.end()) {
        throw ConvertError(ExitCode::kUsage,
                           fmt::format("--input for {} elements of {} found, and none of them is {}[{}]", count,
                                       tree.path, tree.path, i));
      }
      const c10::IValue value = sample == nullptr ? c10::IValue() : sample->toListRef()[i];
      add(tree, path, element, {index}, sample == nullptr ? nullptr : &value);
    }
  }

  void fill_dict(ArgumentTree& tree, const ValuePath& path, const c10::DictType& type,
                 const c10::IValue* sample) const {
    if (!is_named_key(*type.getKeyType())) return;
    std::vector<c10::IValue> keys;
    for (const std::string& step : steps_behind(path)) {
      if (const auto key = key_of(*type.getKeyType(), step)) keys.push_back(*key);
    }
    if (sample != nullptr) {
      keys.clear();
      for (const auto& entry : sample->toGenericDict()) keys.push_back(entry.key());
    }
    if (sample == nullptr && keys.empty()) return;
    tree.kind = Kind::kDict;
    for (const c10::IValue& key : keys) {
      const c10::IValue value = sample == nullptr ? c10::IValue() : sample->toGenericDict().at(key);
      add(tree, path, type.getValueType(), {key_text(key)}, sample == nullptr ? nullptr : &value);
      tree.keys.push_back(key);
    }
  }

  std::vector<ValuePath> paths_, bound_paths_;
  const BoundValues& bound_;
};

// Builds the values of the original arguments.
class Building {
 public:
  explicit Building(Graph& graph) : graph_(graph) {}

  Value* build(ArgumentTree& tree) {
    switch (tree.kind) {
      case Kind::kLeaf: {
        Value* input = graph_.addInput();
        input->setType(tree.known_type());
        return input;
      }
      case Kind::kNone:
      case Kind::kBound:
        return graph_.insertConstant(tree.bound);
      default:
        return build_container(tree);
    }
  }

  // Finds the dicts that nodes read in another way than by key. Call it once the graph uses all dicts.
  void find_order() {
    static const std::set<std::string> by_key = {"aten::__getitem__", "aten::__contains__", "aten::len", "aten::get",
                                                 "aten::_set_item"};
    for (const auto& [tree, dict] : dicts_) {
      tree->keeps_order = tree->keys.size() > 1 &&
                          std::any_of(dict->uses().begin(), dict->uses().end(), [](const torch::jit::Use& use) {
                            return by_key.count(use.user->kind().toQualString()) == 0;
                          });
    }
  }

 private:
  Value* build_container(ArgumentTree& tree) {
    std::vector<Value*> elements;
    for (ArgumentTree& element : tree.elements) elements.push_back(build(element));
    const c10::TypePtr type = tree.known_type();
    Node* node = nullptr;
    if (const auto tuple = type->cast<c10::TupleType>()) {
      node = graph_.createTuple(elements, tuple->schema() ? tuple : nullptr);
    } else if (tree.kind == Kind::kList) {
      node = graph_.createList(type->expectRef<c10::ListType>().getElementType(), elements);
    } else {
      std::vector<Value*> keys;
      for (const c10::IValue& key : tree.keys) keys.push_back(graph_.insertConstant(key));
      const auto& dict = type->expectRef<c10::DictType>();
      node = graph_.createDict(dict.getKeyType(), dict.getValueType(), keys, elements);
    }
    if (tree.kind == Kind::kDict) dicts_.emplace_back(&tree, node->output());
    return graph_.insertNode(node)->output();
  }

  Graph& graph_;
  std::vector<std::pair<ArgumentTree*, Value*>> dicts_;
};

c10::IValue assemble(const ArgumentTree& tree, const std::vector<c10::IValue>& leaves, size_t& next) {
  if (tree.kind == Kind::kLeaf) return leaves.at(next++);
  if (tree.kind == Kind::kNone || tree.kind == Kind::kBound) return tree.bound.deepcopy();
  const c10::TypePtr type = tree.known_type();
  std::vector<c10::IValue> elements;
  for (const ArgumentTree& element : tree.elements) elements.push_back(assemble(element, leaves, next));
  if (const auto tuple = type->cast<c10::TupleType>()) {
    return tuple->schema() ? c10::ivalue::Tuple::createNamed(std::move(elements), tuple)
                           : c10::ivalue::Tuple::create(std::move(elements));
  }
  if (tree.kind == Kind::kList) {
    c10::impl::GenericList list(type->expectRef<c10::ListType>().getElementType());
    for (const c10::IValue& element : elements) list.push_back(element);
    return list;
  }
  const auto& dict_type = type->expectRef<c10::DictType>();
  c10::impl::GenericDict dict(dict_type.getKeyType(), dict_type.getValueType());
  for (size_t i = 0; i < elements.size(); ++i) dict.insert(tree.keys[i], elements[i]);
  return dict;
}

// True if a call's value is the bound one: of the same dtype and sizes, too, if it is a tensor.
bool is_bound_value(const c10::IValue& value, const c10::IValue& bound) {
  if (!bound.isTensor() || !value.isTensor()) return bound.isTensor() == value.isTensor() && value == bound;
  const at::Tensor& found = value.toTensor();
  const at::Tensor& needed = bound.toTensor();
  return found.scalar_type() == needed.scalar_type() && found.sizes() == needed.sizes() && found.equal(needed);
}

// Adds the value's leaves. Returns false where the value is built in another way.
bool take_apart(const ArgumentTree& tree, const c10::IValue& value, std::vector<c10::IValue>& leaves) {
  if (tree.kind == Kind::kNone) return value.isNone();
  if (tree.kind == Kind::kBound) return is_bound_value(value, tree.bound);
  if (tree.is_given && value.isNone()) return false;
  if (tree.kind == Kind::kLeaf) {
    leaves.push_back(value);
    return !tree.is_tensor() || value.isTensor();
  }
  std::vector<c10::IValue> elements;
  if (tree.kind == Kind::kDict) {
    if (!value.isGenericDict() || value.toGenericDict().size() != tree.keys.size()) return false;
    for (const c10::IValue& key : tree.keys) {
      if (!value.toGenericDict().contains(key)) return false;
      elements.push_back(value.toGenericDict().at(key));
    }
  } else if (tree.kind == Kind::kList) {
    if (!value.isList()) return false;
    elements = value.toListRef().vec();
  } else {
    if (!value.isTuple()) return false;
    elements = value.toTupleRef().elements().vec();
  }
  if (elements.size() != tree.elements.size()) return false;
  for (size_t i = 0; i < elements.size(); ++i) {
    if (!take_apart(tree.elements[i], elements[i], leaves)) return false;
  }
  return true;
}

}  // namespace

ForwardArguments read_arguments(const c10::FunctionSchema& forward, const std::vector<std::string>& names,
                                const InputTuple* sample, const BoundValues& bound) {
  ForwardArguments arguments;
  const Reading reading(names, bound);
  for (size_t i = 1; i < forward.arguments().size(); ++i) {  // argument 0 is self
    const c10::Argument& argument = forward.arguments()[i];
    const auto& value = argument.default_value();
    const c10::IValue* bundled = sample != nullptr && i - 1 < sample->size() ? &(*sample)[i - 1] : nullptr;
    arguments.push_back(
        {argument.name(), reading.read(argument.type(), {argument.name()}, bundled, value && value->isNone()), value});
  }
  return arguments;
}

std::optional<NamedValue> value_named(const c10::FunctionSchema& forward, const std::string& name) {
  const auto& arguments = forward.arguments();
  const auto argument_named = [&](const std::string& text) {
    return std::find_if(arguments.begin() + 1, arguments.end(), [&](const auto& each) { return each.name() == text; });
  };
  if (const auto whole = argument_named(name); whole != arguments.end()) return NamedValue{name, whole->type()};
  const auto path = parse_path(name);
  const auto argument = path ? argument_named(path->argument) : arguments.end();
  if (argument == arguments.end()) return std::nullopt;
  ValuePath result{path->argument};
  c10::TypePtr type = argument->type();
  for (const ValuePath::Step& step : path->steps) {
    auto known = known_step(type, step);
    if (!known) return std::nullopt;
    result.steps.push_back(std::move(*known));
  }
  return NamedValue{to_text(result), type};
}

std::string name_of_value(const c10::FunctionSchema& forward, const std::string& name) {
  const auto value = value_named(forward, name);
  return value ? value->name : name;
}

std::string example_name(const std::string& name, const c10::TypePtr& type) {
  ValuePath path = parse_path(name).value_or(ValuePath{name});
  c10::TypePtr part = type;
  while (holds_tensors(*part) && part->kind() != c10::TypeKind::TensorType) {
    const auto dict = part->cast<c10::DictType>();
    const bool has_texts = dict && dict->getKeyType()->kind() == c10::TypeKind::StringType;
    auto step = known_step(part, {has_texts ? "KEY" : "0"});
    if (!step) break;
    path.steps.push_back(std::move(*step));
  }
  return to_text(path);
}

void flatten_arguments(Graph& graph, ForwardArguments& arguments) {
  if (is_flat(arguments)) return;
  torch::jit::WithInsertPoint at_start(*graph.nodes().begin());
  Building building(graph);
  for (size_t i = 0; i < arguments.size(); ++i)
    graph.inputs()[i + 1]->replaceAllUsesWith(building.build(arguments[i].tree));
  for (size_t i = arguments.size(); i > 0; --i) graph.eraseInput(i);
  building.find_order();
}

bool takes_tensors_only(const ForwardArguments& arguments) {
  return std::all_of(arguments.begin(), arguments.end(),
                     [](const Argument& argument) { return argument.tree.is_tensor() && !argument.tree.is_given; });
}

InputTuple assemble(const ForwardArguments& arguments, const std::vector<c10::IValue>& leaves) {
  InputTuple values;
  size_t next = 0;
  for (const Argument& argument : arguments) values.push_back(assemble(argument.tree, leaves, next));
  return values;
}

InputTuple call_of(const ForwardArguments& arguments, const std::vector<at::Tensor>& leaves) {
  const std::vector<c10::IValue> values(leaves.begin(), leaves.end());
  return arguments.empty() ? values : assemble(arguments, values);
}

std::optional<std::vector<c10::IValue>> take_apart(const ForwardArguments& arguments, const InputTuple& values) {
  std::vector<c10::IValue> leaves;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& fallback = arguments[i].default_value;
    if (i >= values.size() && !fallback) return std::nullopt;
    if (!take_apart(arguments[i].tree, i < values.size() ? values[i] : *fallback, leaves)) return std::nullopt;
  }
  return values.size() > arguments.size() ? std::nullopt : std::optional(leaves);
}

}  // namespace nnapi_convert
