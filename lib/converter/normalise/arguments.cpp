#include "lib/converter/normalise/arguments.h"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <set>

#include "lib/base/error.h"

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

// Keys that stay readable in a path and in a message.
bool is_plain(const std::string& key) {
  return !key.empty() && key.find_first_of("[]{}=\"\\\n") == std::string::npos;
}

class Reading {
 public:
  explicit Reading(const std::vector<std::string>& names) : names_(names) {}

  ArgumentTree read(const c10::TypePtr& type, const std::string& path, const c10::IValue* sample,
                    bool may_be_none = false) const {
    ArgumentTree tree;
    tree.type = type;
    tree.path = path;
    if (is_named(path)) sample = nullptr;
    if (const auto optional = type->cast<c10::OptionalType>()) {
      return read_optional(std::move(tree), optional->getElementType(), sample, may_be_none);
    }
    fill(tree, type, sample);
    return tree;
  }

 private:
  bool is_named(const std::string& path) const {
    return std::any_of(names_.begin(), names_.end(),
                       [&](const std::string& name) { return name == path || name.rfind(path + "[", 0) == 0; });
  }

  // Returns the texts in brackets behind the path in the names, each once.
  std::vector<std::string> indices(const std::string& path) const {
    std::vector<std::string> result;
    for (const std::string& name : names_) {
      if (name.rfind(path + "[", 0) != 0) continue;
      const size_t begin = path.size() + 1;
      const std::string index = name.substr(begin, name.find(']', begin) - begin);
      if (std::find(result.begin(), result.end(), index) == result.end()) result.push_back(index);
    }
    return result;
  }

  ArgumentTree read_optional(ArgumentTree tree, const c10::TypePtr& element, const c10::IValue* sample,
                             bool may_be_none) const {
    const bool is_given = is_named(tree.path) || (sample != nullptr && !sample->isNone());
    if (!is_given) {
      if (may_be_none || sample != nullptr) tree.kind = Kind::kNone;
      return tree;
    }
    tree.is_given = holds_tensors(*element);
    if (tree.is_given) fill(tree, element, sample);
    return tree;
  }

  void fill(ArgumentTree& tree, const c10::TypePtr& type, const c10::IValue* sample) const {
    if (!holds_tensors(*type)) return;
    if (const auto list = type->cast<c10::ListType>()) {
      fill_list(tree, list->getElementType(), sample);
    } else if (const auto dict = type->cast<c10::DictType>()) {
      fill_dict(tree, *dict, sample);
    } else if (const auto tuple = type->cast<c10::TupleType>()) {
      if (tuple->schema()) return;
      tree.kind = Kind::kTuple;
      for (size_t i = 0; i < tuple->elements().size(); ++i) {
        add(tree, tuple->elements()[i], std::to_string(i),
            sample == nullptr ? nullptr : &sample->toTupleRef().elements()[i]);
      }
    }
  }

  void add(ArgumentTree& tree, const c10::TypePtr& type, const std::string& index, const c10::IValue* sample) const {
    tree.elements.push_back(read(type, fmt::format("{}[{}]", tree.path, index), sample));
  }

  void fill_list(ArgumentTree& tree, const c10::TypePtr& element, const c10::IValue* sample) const {
    const size_t count = sample != nullptr ? sample->toListRef().size() : indices(tree.path).size();
    if (sample == nullptr && count == 0) return;
    const std::vector<std::string> given = indices(tree.path);
    tree.kind = Kind::kList;
    for (size_t i = 0; i < count; ++i) {
      const std::string index = std::to_string(i);
      if (sample == nullptr && std::find(given.begin(), given.end(), index) == given.end()) {
        throw ConvertError(ExitCode::kUsage,
                           fmt::format("--input for {} elements of {} found, and none of them is {}[{}]", count,
                                       tree.path, tree.path, i));
      }
      const c10::IValue value = sample == nullptr ? c10::IValue() : sample->toListRef()[i];
      add(tree, element, index, sample == nullptr ? nullptr : &value);
    }
  }

  void fill_dict(ArgumentTree& tree, const c10::DictType& type, const c10::IValue* sample) const {
    if (type.getKeyType()->kind() != c10::TypeKind::StringType) return;
    std::vector<std::string> keys = indices(tree.path);
    if (sample != nullptr) {
      keys.clear();
      for (const auto& entry : sample->toGenericDict()) keys.push_back(entry.key().toStringRef());
    }
    if (!std::all_of(keys.begin(), keys.end(), is_plain) || (sample == nullptr && keys.empty())) return;
    tree.kind = Kind::kDict;
    for (const std::string& key : keys) {
      const c10::IValue value = sample == nullptr ? c10::IValue() : sample->toGenericDict().at(key);
      add(tree, type.getValueType(), key, sample == nullptr ? nullptr : &value);
      tree.keys.push_back(key);
    }
  }

  const std::vector<std::string>& names_;
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
    if (tree.kind == Kind::kTuple) {
      node = graph_.createTuple(elements);
    } else if (tree.kind == Kind::kList) {
      node = graph_.createList(type->expectRef<c10::ListType>().getElementType(), elements);
    } else {
      std::vector<Value*> keys;
      for (const std::string& key : tree.keys) keys.push_back(graph_.insertConstant(key));
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
  if (tree.kind == Kind::kTuple) return c10::ivalue::Tuple::create(std::move(elements));
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

// False where the value is built in another way.
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
    for (const std::string& key : tree.keys) {
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

ArgumentTree bound_tree(const c10::Argument& argument, const c10::IValue& value) {
  ArgumentTree tree;
  tree.type = argument.type();
  tree.path = argument.name();
  tree.kind = value.isNone() ? Kind::kNone : Kind::kBound;
  tree.bound = value;
  return tree;
}

}  // namespace

ForwardArguments read_arguments(const c10::FunctionSchema& forward, const std::vector<std::string>& names,
                                const InputTuple* sample, const BoundValues& bound) {
  ForwardArguments arguments;
  const Reading reading(names);
  for (size_t i = 1; i < forward.arguments().size(); ++i) {  // argument 0 is self
    const c10::Argument& argument = forward.arguments()[i];
    const auto& value = argument.default_value();
    const c10::IValue* bundled = sample != nullptr && i - 1 < sample->size() ? &(*sample)[i - 1] : nullptr;
    if (const auto found = bound.find(argument.name()); found != bound.end()) {
      arguments.push_back({argument.name(), bound_tree(argument, found->second), value});
      continue;
    }
    arguments.push_back(
        {argument.name(), reading.read(argument.type(), argument.name(), bundled, value && value->isNone()), value});
  }
  return arguments;
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
