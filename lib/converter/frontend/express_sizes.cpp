// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/express_sizes.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

class SizeNodes : public DimVisitor {
 public:
  SizeNodes(Graph& graph, const std::function<Value*(const OpenSize&)>& size_of) : graph_(graph), size_of_(size_of) {}

  Value* at(size_t number) const { return values_[number]; }
  size_t number(int64_t value) override { return add(graph_.insertConstant(value)); }
  size_t size(int input, int axis) override { return add(size_of_({input, axis})); }
  size_t sum(size_t a, size_t b) override { return combine(c10::aten::add, a, b); }
  size_t product(size_t a, size_t b) override { return combine(c10::aten::mul, a, b); }
  size_t floor_div(size_t a, size_t b) override { return combine(c10::aten::floordiv, a, b); }

 private:
  size_t add(Value* value) {
    values_.push_back(value);
    return values_.size() - 1;
  }
  size_t combine(c10::Symbol kind, size_t a, size_t b) { return add(graph_.insert(kind, {at(a), at(b)})); }

  Graph& graph_;
  const std::function<Value*(const OpenSize&)>& size_of_;
  std::vector<Value*> values_;
};

class Substitution : public DimVisitor {
 public:
  explicit Substitution(const std::function<std::optional<Dim>(const OpenSize&)>& other) : other_(other) {}

  std::optional<Dim> at(size_t number) const { return is_whole_ ? std::optional(sizes_[number]) : std::nullopt; }
  size_t number(int64_t value) override { return add(Dim(value)); }
  size_t size(int input, int axis) override {
    const std::optional<Dim> other = other_({input, axis});
    is_whole_ = is_whole_ && other.has_value();
    return add(other.value_or(Dim(1)));
  }
  size_t sum(size_t a, size_t b) override { return add(sizes_[a] + sizes_[b]); }
  size_t product(size_t a, size_t b) override { return add(sizes_[a] * sizes_[b]); }
  size_t floor_div(size_t a, size_t b) override { return add(sizes_[a].floor_div(sizes_[b].value())); }

 private:
  size_t add(Dim size) {
    sizes_.push_back(std::move(size));
    return sizes_.size() - 1;
  }

  const std::function<std::optional<Dim>(const OpenSize&)>& other_;
  std::vector<Dim> sizes_;
  bool is_whole_ = true;
};

// Returns the last node that makes an input of the model; null if all inputs are there from the graph's beginning.
Node* last_maker(const NormalisedModel& model) {
  Node* last = nullptr;
  for (const Value* input : model.inputs) {
    Node* maker = const_cast<Node*>(input->node());
    if (maker->kind() == c10::prim::Param) continue;
    if (last == nullptr || last->isBefore(maker)) last = maker;
  }
  return last;
}

bool is_made_of_inputs(const Dims& numbers, const NormalisedModel& model) {
  return !all_fixed(numbers) && std::all_of(numbers.begin(), numbers.end(), [&](const Dim& number) {
    const std::set<OpenSize> sizes = open_sizes_in(number);
    return std::all_of(sizes.begin(), sizes.end(), [&](const OpenSize& size) {
      return !is_runtime_size(size) && static_cast<size_t>(size.first) < model.inputs.size();
    });
  });
}

bool is_number(const Value& value) {
  return value.type()->kind() == c10::TypeKind::IntType;
}

bool is_list_of_numbers(const Value& value) {
  const auto list = value.type()->cast<c10::ListType>();
  return list && list->getElementType()->kind() == c10::TypeKind::IntType;
}

// Reads sizes of the model's inputs, each once.
class InputSizes {
 public:
  InputSizes(NormalisedModel& model, TypeMap& types, Node* begin) : model_(model), types_(types), begin_(begin) {}

  // Replaces all reads of the value by numbers made of the inputs' sizes.
  void replace(Value& value, const Dims& numbers) {
    const torch::jit::WithInsertPoint here(begin_);
    std::vector<Value*> made;
    for (const Dim& number : numbers) made.push_back(value_of(number));
    Value* result = made[0];
    if (!is_number(value)) {
      result = graph().insertNode(graph().createList(c10::IntType::get(), made))->output();
      types_[result] = numbers;
    }
    value.replaceAllUsesWith(result);
  }

 private:
  Graph& graph() { return *model_.graph; }

  Value* value_of(const Dim& number) {
    Value*& made = made_[number.text()];
    if (made != nullptr) return made;
    made = insert_size(graph(), number, [this](const OpenSize& size) { return size_of(size); });
    types_[made] = Dims{number};
    return made;
  }

  Value* size_of(const OpenSize& size) {
    Value*& read = reads_[size];
    if (read != nullptr) return read;
    Value* input = model_.inputs.at(static_cast<size_t>(size.first));
    read = graph().insert(c10::aten::size, {input, static_cast<int64_t>(size.second)});
    types_[read] = Dims{to_dim(size)};
    return read;
  }

  NormalisedModel& model_;
  TypeMap& types_;
  Node* begin_;
  std::map<std::string, Value*> made_;
  std::map<OpenSize, Value*> reads_;
};

}  // namespace

Value* insert_size(Graph& graph, const Dim& size, const std::function<Value*(const OpenSize&)>& size_of) {
  SizeNodes nodes(graph, size_of);
  return nodes.at(size.visit(nodes));
}

std::optional<Dim> with_others(const Dim& size, const std::function<std::optional<Dim>(const OpenSize&)>& other) {
  Substitution substitution(other);
  return substitution.at(size.visit(substitution));
}

void read_sizes_of_inputs(NormalisedModel& model, TypeMap& types) {
  Graph& graph = *model.graph;
  Node* maker = last_maker(model);
  Node* begin = maker == nullptr ? *graph.nodes().begin() : maker->next();
  std::vector<std::pair<Value*, Dims>> found;
  for_each_node(graph, [&](Node& node) {
    const bool is_behind = maker == nullptr || !node.isBefore(begin);
    if (node.kind() == c10::prim::Constant || node.kind() == c10::prim::ListConstruct || !is_behind) return;
    for (Value* output : node.outputs()) {
      const auto type = types.find(output);
      const Dims* numbers = type == types.end() ? nullptr : std::get_if<Dims>(&type->second);
      if (numbers == nullptr || numbers->empty() || !output->hasUses()) continue;
      if (!is_number(*output) && !is_list_of_numbers(*output)) continue;
      if (is_made_of_inputs(*numbers, model)) found.emplace_back(output, *numbers);
    }
  });
  if (found.empty()) return;
  InputSizes sizes(model, types, begin);
  for (const auto& [value, numbers] : found) sizes.replace(*value, numbers);
}

}  // namespace nnapi_convert
