// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/state_types.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <set>

#include "lib/converter/graph/changed_attributes.h"
#include "lib/converter/graph/control_flow.h"
#include "lib/converter/graph/filled_state.h"
#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Value;

// Returns the path of the attribute that the value was read from; empty if it was read from none.
AttributePath path_of(const Value& value) {
  const Node& maker = *value.node();
  if (maker.kind() == c10::prim::unchecked_cast) return path_of(*maker.input());
  return is_attribute_access(maker, c10::prim::GetAttr) ? attribute_path(maker) : AttributePath();
}

std::optional<TensorType> tensor_type_of(const c10::IValue& value) {
  if (!value.isTensor() || !value.toTensor().defined() || value.toTensor().is_quantized()) return std::nullopt;
  return TensorType{value.toTensor().scalar_type(), to_dims(value.toTensor().sizes().vec()), {}};
}

KnownTypes types_of(const c10::IValue& value) {
  KnownTypes types;
  if (value.isTensorList()) {
    for (const at::Tensor& element : value.toTensorVector()) types.push_back(tensor_type_of(element));
    return types;
  }
  if (!value.isTuple()) return {tensor_type_of(value)};
  for (const c10::IValue& element : value.toTupleRef().elements()) types.push_back(tensor_type_of(element));
  return types;
}

std::optional<TensorType> fixed_type(const Value& value, const TypeMap& types) {
  if (value.type()->kind() != c10::TypeKind::TensorType) return std::nullopt;
  const auto type = tensor_type(&value, types);
  return type && all_fixed(type->dims) ? type : std::nullopt;
}

// Forgets the types in which the two differ. Forgets all of them if they are for different numbers of elements.
void join(KnownTypes& known, const KnownTypes& found) {
  if (known.size() != found.size()) known.assign(known.size(), std::nullopt);
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i] && !(i < found.size() && found[i] && same_type(*known[i], *found[i]))) known[i].reset();
  }
}

bool is_tensor_list(const Value& value) {
  return value.type()->isSubtypeOf(*c10::ListType::ofTensors());
}

// True if the node takes tensors from the list, its first argument, or its length, and can't change it.
bool only_reads_list(const Node& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  const bool has_list = node.kind() == c10::prim::ListUnpack || node.kind() == c10::aten::__getitem__;
  return has_list || (schema != nullptr && schema->arguments().at(0).alias_info() == nullptr);
}

bool sets_element(const torch::jit::Use& use) {
  return use.user->kind() == c10::aten::_set_item && use.offset == 0;
}

// True if no one but the attribute holds the list, of which nothing else is known to change.
bool is_held_alone(const Value& list) {
  return std::count_if(list.uses().begin(), list.uses().end(),
                       [](const torch::jit::Use& use) { return use.user->kind() == c10::prim::SetAttr; }) == 1 &&
         std::all_of(list.uses().begin(), list.uses().end(), [](const torch::jit::Use& use) {
           return use.user->kind() == c10::prim::SetAttr || (use.offset == 0 && only_reads_list(*use.user));
         });
}

// Returns the key in StateTypes for the type that a tensor which is empty at first has with elements.
AttributePath while_filled(AttributePath path) {
  path.emplace_back("while it has elements");
  return path;
}

std::optional<KnownTypes> of_attribute(const AttributePath& path, const StateTypes& state) {
  const auto found = state.find(path);
  return found == state.end() ? std::nullopt : std::optional(found->second);
}

// Finds the types of tensors, and of the elements of tuples and lists, which branches may give.
class HeldTypes {
 public:
  HeldTypes(const TypeMap& types, const StateTypes& state) : types_(types), state_(state) {}

  // Returns the types of the value's tensors; nothing for None and for what an error leaves unset.
  std::optional<KnownTypes> of(const Value& value) {
    const auto found = found_.find(&value);
    if (found != found_.end()) return found->second;
    return found_[&value] = find(value);
  }

 private:
  std::optional<KnownTypes> find(const Value& value) {
    const Node& maker = *value.node();
    if (value.mustBeNone() || maker.kind() == c10::prim::Uninitialized) return std::nullopt;
    if (value.type()->kind() == c10::TypeKind::TensorType) return KnownTypes{fixed_type(value, types_)};
    if (maker.kind() == c10::prim::unchecked_cast) return of(*maker.input());
    if (is_tensor_list(value)) return list_elements(value);
    if (maker.kind() == c10::prim::TupleConstruct) return elements(maker);
    if (maker.kind() == c10::prim::If) return of_branches(value);
    return of_attribute(path_of(value), state_).value_or(KnownTypes{});
  }

  KnownTypes list_elements(const Value& list) const {
    const bool is_known = list.node()->kind() == c10::prim::ListConstruct && is_held_alone(list);
    return is_known ? elements(*list.node()) : KnownTypes{};
  }

  KnownTypes elements(const Node& maker) const {
    KnownTypes result;
    for (const Value* element : maker.inputs()) result.push_back(fixed_type(*element, types_));
    return result;
  }

  std::optional<KnownTypes> of_branches(const Value& value) {
    std::optional<KnownTypes> result;
    for (const torch::jit::Block* block : value.node()->blocks()) {
      const auto given = of(*block->outputs()[value.offset()]);
      if (given && result) join(*result, *given);
      if (!result) result = given;
    }
    return result;
  }

  const TypeMap& types_;
  const StateTypes& state_;
  std::map<const Value*, std::optional<KnownTypes>> found_;
};

bool is_same(const StateTypes& a, const StateTypes& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    const auto same = [](const auto& x, const auto& y) { return x.has_value() == y.has_value(); };
    return one.first == other.first &&
           std::equal(one.second.begin(), one.second.end(), other.second.begin(), other.second.end(), same);
  });
}

// Returns the types of the elements of an attribute's list after the changes that the graph makes; none if it may get
// another number of elements.
KnownTypes types_in_list(const Value& list, KnownTypes elements, const TypeMap& types) {
  const auto count = static_cast<int64_t>(elements.size());
  for (const torch::jit::Use& use : list.uses()) {
    if (use.offset == 0 && only_reads_list(*use.user) && !sets_element(use)) continue;
    const auto index = sets_element(use) ? torch::jit::toIValue(use.user->input(1)) : c10::nullopt;
    if (!index || index->toInt() < -count || index->toInt() >= count) return {};
    std::optional<TensorType>& element = elements[static_cast<size_t>((index->toInt() + count) % count)];
    const auto set = fixed_type(*use.user->input(2), types);
    if (!element || !set || !same_type(*element, *set)) element.reset();
  }
  return elements;
}

class Copy {
 public:
  Copy(const NormalisedModel& model, const TypeMap& input_types) {
    model_.run_by = model.run_by;
    model_.frozen = model.frozen;
    model_.graph = model.graph->copy();
    for (size_t i = 0; i < model.graph->inputs().size(); ++i) {
      const auto found = input_types.find(model.graph->inputs()[i]);
      if (found != input_types.end()) input_types_[model_.graph->inputs()[i]] = found->second;
    }
  }

  // Makes the attributes that are None at the beginning constants, for this run.
  void set_none(const std::set<AttributePath>& paths) {
    std::vector<Node*> reads;
    for_each_node(*model_.graph, [&](Node& node) {
      if (is_attribute_access(node, c10::prim::GetAttr) && paths.count(attribute_path(node)) != 0)
        reads.push_back(&node);
    });
    for (Node* read : reads) {
      const torch::jit::WithInsertPoint here(read);
      read->output()->replaceAllUsesWith(model_.graph->insertConstant(c10::IValue()));
    }
  }

  // Infers the types with `state`, and returns the types of the values that the graph puts into each attribute, without
  // None, and without tensors that empty an attribute which is empty at first.
  std::map<AttributePath, std::vector<KnownTypes>> run(const StateTypes& state, const InferWithState& infer) {
    const TypeMap types = infer(model_, input_types_, state);
    HeldTypes held(types, state);
    std::map<AttributePath, std::vector<KnownTypes>> left;
    for_each_node(*model_.graph, [&](const Node& node) {
      if (!is_attribute_access(node, c10::prim::SetAttr) || empties_state(node)) return;
      if (auto types_set = held.of(*node.input(1))) left[attribute_path(node)].push_back(std::move(*types_set));
    });
    for_each_node(*model_.graph, [&](const Node& node) {
      if (!is_attribute_access(node, c10::prim::GetAttr) || !is_tensor_list(*node.output())) return;
      const AttributePath path = attribute_path(node);
      const auto found = state.find(path);
      if (found != state.end()) left[path].push_back(types_in_list(*node.output(), found->second, types));
    });
    return left;
  }

 private:
  NormalisedModel model_;
  TypeMap input_types_;
};

// The attributes' types at the beginning.
struct FirstState {
  StateTypes types;
  std::set<AttributePath> none;
  StateTypes empty;  // types of those that are empty at first
};

FirstState first_state(const NormalisedModel& model) {
  FirstState first;
  std::set<AttributePath> filled;
  for_each_node(*model.graph, [&](const Node& node) {
    if (is_filled_read(node)) filled.insert(path_of(*node.input()));
  });
  std::map<const void*, AttributePath> lists;
  for_each_node(*model.graph, [&](const Node& node) {
    if (!is_attribute_access(node, c10::prim::GetAttr)) return;
    const AttributePath path = attribute_path(node);
    const c10::IValue value = attribute_value(model.frozen, path);
    const bool is_shared = value.isTensorList() && lists.emplace(value.internalToPointer(), path).first->second != path;
    if (is_shared) return;  // a change of the other attribute's list is not seen
    if (value.isNone()) {
      first.none.insert(path);
    } else {
      (filled.count(path) != 0 ? first.empty : first.types)[path] = types_of(value);
    }
  });
  return first;
}

// Gives attributes that are None or empty the types that the first runs leave in them.
StateTypes after_first_runs(const NormalisedModel& model, const TypeMap& input_types, const InferWithState& infer,
                            const FirstState& first) {
  constexpr int kRuns = 3;  // a state may grow in the first ones
  StateTypes state = first.types;
  for (int i = 0; i < (first.empty.empty() ? 1 : kRuns); ++i) {
    Copy copy(model, input_types);
    StateTypes known = state;
    if (i == 0) {
      copy.set_none(first.none);
      known.insert(first.empty.begin(), first.empty.end());
    }
    for (const auto& [path, left] : copy.run(known, infer)) {
      if (i == 0 && first.none.count(path) != 0) state[path] = left.front();
      if (first.empty.count(path) != 0) state[while_filled(path)] = left.back();
    }
  }
  return state;
}

}  // namespace

StateTypes state_types(const NormalisedModel& model, const TypeMap& input_types, const InferWithState& infer) {
  const FirstState first = first_state(model);
  if (first.types.empty() && first.none.empty() && first.empty.empty()) return {};
  StateTypes state = first.types;
  if (!first.none.empty() || !first.empty.empty()) state = after_first_runs(model, input_types, infer, first);
  for (;;) {  // each round but the last one forgets a type
    StateTypes next = state;
    for (const auto& [path, left] : Copy(model, input_types).run(state, infer)) {
      const auto found = next.find(first.empty.count(path) != 0 ? while_filled(path) : path);
      for (const KnownTypes& types : left) {
        if (found != next.end()) join(found->second, types);
      }
    }
    if (is_same(state, next)) return state;
    state = std::move(next);
  }
}

std::optional<KnownTypes> types_of_held(const Node& node, const TypeMap& types, const StateTypes& state) {
  if (is_filled_read(node)) {
    const auto with_elements = of_attribute(while_filled(path_of(*node.input())), state);
    return with_elements ? with_elements : of_attribute(path_of(*node.input()), state);
  }
  const bool takes_index = node.kind() == c10::prim::TupleIndex || node.kind() == c10::aten::__getitem__;
  const bool takes_all = node.kind() == c10::prim::TupleUnpack || node.kind() == c10::prim::ListUnpack;
  const bool is_read = is_attribute_access(node, c10::prim::GetAttr);
  if (!takes_index && !takes_all && !is_read && node.kind() != c10::prim::unchecked_cast) return std::nullopt;
  const Value& holder = is_read ? *node.output() : *node.input(0);
  const bool is_state = is_read || is_tensor_list(holder);  // a list may change where branches don't see it
  const auto held = is_state ? of_attribute(path_of(holder), state) : HeldTypes(types, state).of(holder);
  if (!held) return std::nullopt;
  if (takes_all) return held->size() == node.outputs().size() ? held : std::nullopt;
  if (!takes_index) {
    const bool is_tensor = node.output()->type()->kind() == c10::TypeKind::TensorType && held->size() == 1;
    return is_tensor ? held : std::nullopt;
  }
  const auto index = torch::jit::toIValue(node.input(1));
  const auto count = static_cast<int64_t>(held->size());
  const bool is_place = index && index->isInt();  // and no key of a dict
  if (!is_place || index->toInt() < -count || index->toInt() >= count) return std::nullopt;
  return KnownTypes{(*held)[static_cast<size_t>((index->toInt() + count) % count)]};
}

}  // namespace nnapi_convert
