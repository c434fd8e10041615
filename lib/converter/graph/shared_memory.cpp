// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/shared_memory.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <set>

#include "lib/converter/graph/attribute_path.h"
#include "lib/converter/graph/glue.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

bool may_hold_tensors(const c10::Type& type) {
  switch (type.kind()) {
    case c10::TypeKind::IntType:
    case c10::TypeKind::FloatType:
    case c10::TypeKind::ComplexType:
    case c10::TypeKind::NumberType:
    case c10::TypeKind::BoolType:
    case c10::TypeKind::StringType:
    case c10::TypeKind::NoneType:
    case c10::TypeKind::DeviceObjType:
    case c10::TypeKind::GeneratorType:
    case c10::TypeKind::FunctionType:
      return false;
    case c10::TypeKind::ListType:
    case c10::TypeKind::DictType:
    case c10::TypeKind::TupleType:
    case c10::TypeKind::OptionalType: {
      const auto contained = type.containedTypes();
      return std::any_of(contained.begin(), contained.end(), [](const auto& part) { return may_hold_tensors(*part); });
    }
    default:
      return true;
  }
}

// True for a node that changes no memory, and whose inputs and results may share some.
bool changes_nothing(const Node& node) {
  const c10::Symbol kind = node.kind();
  return hands_on(node) || kind == c10::prim::CreateObject || kind == c10::prim::Uninitialized ||
         kind == c10::prim::RaiseException;
}

// Returns the tensor's storage; null if it has none.
const c10::StorageImpl* storage_of(const at::Tensor& tensor) {
  return tensor.defined() && tensor.has_storage() ? tensor.storage().unsafeGetStorageImpl() : nullptr;
}

bool gives_new_memory(const Node& node) {
  const Memory memory = find_traits(node).memory;
  return memory == Memory::kBySchema || memory == Memory::kFresh;
}

// True for a list, tuple or dict out of which no node takes an element, as the list of aten::cat: its elements don't
// share memory through it.
bool is_only_read(const Value& container) {
  return std::all_of(container.uses().begin(), container.uses().end(), [](const torch::jit::Use& use) {
    const Node& user = *use.user;
    if (user.kind() == c10::prim::Return) return user.owningBlock()->owningNode() == nullptr;
    const c10::FunctionSchema* schema = user.maybeSchema();
    return schema != nullptr && use.offset < schema->arguments().size() &&
           schema->arguments()[use.offset].alias_info() == nullptr && gives_new_memory(user);
  });
}

bool is_only_read_container(const Node& node) {
  const c10::Symbol kind = node.kind();
  const bool makes_container =
      kind == c10::prim::ListConstruct || kind == c10::prim::TupleConstruct || kind == c10::prim::DictConstruct;
  return makes_container && is_only_read(*node.output());
}

// True if the operator changes tensors of this argument. A list's own annotation doesn't count, only that of its
// tensors: aten::append changes a list and no tensor.
bool changes_tensors(const c10::Argument& argument) {
  const c10::AliasInfo* alias = argument.alias_info();
  if (alias == nullptr) return false;
  const auto& parts = alias->containedTypes();
  if (argument.type()->kind() == c10::TypeKind::TensorType || argument.type()->kind() == c10::TypeKind::OptionalType) {
    return alias->isWrite();
  }
  return std::any_of(parts.begin(), parts.end(), [](const c10::AliasInfo& part) { return part.isWrite(); });
}

// True if the annotation, or that of a list's elements, stands for any memory.
bool is_any(const c10::AliasInfo& alias) {
  const auto& parts = alias.containedTypes();
  return alias.isWildcardBefore() || alias.isWildcardAfter() || std::any_of(parts.begin(), parts.end(), is_any);
}

std::set<c10::Symbol> sets_of(const c10::AliasInfo& alias) {
  std::set<c10::Symbol> sets(alias.beforeSets().begin(), alias.beforeSets().end());
  for (const c10::AliasInfo& part : alias.containedTypes()) sets.merge(sets_of(part));
  return sets;
}

bool have_common_set(const c10::AliasInfo& one, const c10::AliasInfo& other) {
  const std::set<c10::Symbol> sets = sets_of(one), others = sets_of(other);
  return std::any_of(sets.begin(), sets.end(), [&](const c10::Symbol& set) { return others.count(set) != 0; });
}

}  // namespace

SharedMemory::SharedMemory(Graph& graph, const torch::jit::Module& module) : module_(module) {
  for_each_node(graph, [&](const Node& node) { read(node); });
  // An attribute whose tensor has no storage may get the memory of any other attribute.
  const auto unknown = storages_.find(nullptr);
  if (unknown != storages_.end()) {
    for (const auto& [name, number] : attributes_) join(number, unknown->second);
  }
  for (size_t number = 0; number < parents_.size(); ++number) parents_[number] = class_of(number);
  for (const size_t number : written_) written_classes_.insert(parents_[number]);
}

bool SharedMemory::is_written(const Value& value) const {
  const auto found = values_.find(&value);
  return found != values_.end() && written_classes_.count(parents_[found->second]) != 0;
}

void SharedMemory::read(const Node& node) {
  const c10::Symbol kind = node.kind();
  if (kind == c10::prim::GetAttr || kind == c10::prim::SetAttr) return read_access(node);
  if (kind == c10::prim::Constant) return join_constant(node);
  if (kind == c10::prim::If || kind == c10::prim::Loop) return read_blocks(node);
  if (is_only_read_container(node)) return;
  if (changes_nothing(node)) return join_all(node);
  if (const c10::FunctionSchema* schema = node.maybeSchema()) return read_operator(node, *schema);
  join_all(node);
  for (const Value* input : node.inputs()) mark_written(*input);
}

void SharedMemory::read_access(const Node& node) {
  const bool reads = node.kind() == c10::prim::GetAttr;
  const Value& value = reads ? *node.output() : *node.input(1);
  if (gives_module(node) || !may_hold_tensors(*value.type())) return;
  const std::string& name = node.s(c10::attr::name);
  join(number_of(value), number_in(attributes_, name));
  const AttributePath path = attribute_path(node);
  if (path.empty()) return join(value, *node.input(0));
  join_attribute(name, attribute_value(module_, path));
}

void SharedMemory::join_attribute(const std::string& name, const c10::IValue& value) {
  value.visit([&](const c10::IValue& part) {
    if (part.isTensor()) join(number_in(attributes_, name), number_in(storages_, storage_of(part.toTensor())));
    return false;
  });
}

void SharedMemory::join_constant(const Node& node) {
  if (!may_hold_tensors(*node.output()->type())) return;
  const auto value = torch::jit::toIValue(node.output());
  if (!value) return;
  value->visit([&](const c10::IValue& part) {
    const c10::StorageImpl* storage = part.isTensor() ? storage_of(part.toTensor()) : nullptr;
    if (storage != nullptr) join(number_of(*node.output()), number_in(storages_, storage));
    return false;
  });
}

void SharedMemory::read_blocks(const Node& node) {
  const bool is_loop = node.kind() == c10::prim::Loop;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    for (const Block* block : node.blocks()) join(*node.output(i), *block->outputs()[i + (is_loop ? 1 : 0)]);
    if (!is_loop) continue;
    join(*node.output(i), *node.input(i + 2));
    join(*node.output(i), *node.blocks()[0]->inputs()[i + 1]);
  }
}

void SharedMemory::read_operator(const Node& node, const c10::FunctionSchema& schema) {
  const auto& arguments = schema.arguments();
  const auto& returns = schema.returns();
  const size_t given = std::min(arguments.size(), node.inputs().size());
  for (size_t i = 0; i < given; ++i) {
    const c10::AliasInfo* alias = arguments[i].alias_info();
    if (alias == nullptr) continue;
    if (changes_tensors(arguments[i])) mark_written(*node.input(i));
    if (is_any(*alias)) return join_all(node);
    for (size_t j = 0; j < std::min(returns.size(), node.outputs().size()); ++j) {
      const c10::AliasInfo* result = returns[j].alias_info();
      if (result != nullptr && have_common_set(*alias, *result)) join(*node.input(i), *node.output(j));
    }
  }
  const bool may_return_any = std::any_of(returns.begin(), returns.end(), [](const c10::Argument& result) {
    return result.alias_info() != nullptr && is_any(*result.alias_info());
  });
  if (may_return_any || !gives_new_memory(node)) join_all(node);
}

void SharedMemory::join_all(const Node& node) {
  const Value* first = nullptr;
  const auto join_first = [&](const Value* value) {
    if (!may_hold_tensors(*value->type())) return;
    if (first == nullptr) first = value;
    join(*first, *value);
  };
  for (const Value* input : node.inputs()) join_first(input);
  for (const Value* output : node.outputs()) join_first(output);
}

void SharedMemory::join(const Value& one, const Value& other) {
  if (may_hold_tensors(*one.type()) && may_hold_tensors(*other.type())) join(number_of(one), number_of(other));
}

void SharedMemory::join(size_t one, size_t other) {
  parents_[class_of(one)] = class_of(other);
}

void SharedMemory::mark_written(const Value& value) {
  if (may_hold_tensors(*value.type())) written_.push_back(number_of(value));
}

size_t SharedMemory::number_of(const Value& value) {
  return number_in(values_, &value);
}

template <typename Key>
size_t SharedMemory::number_in(std::unordered_map<Key, size_t>& numbers, const Key& key) {
  const auto [place, is_new] = numbers.try_emplace(key, parents_.size());
  if (is_new) parents_.push_back(place->second);
  return place->second;
}

size_t SharedMemory::class_of(size_t number) {
  while (parents_[number] != number) number = parents_[number] = parents_[parents_[number]];
  return number;
}

}  // namespace nnapi_convert
