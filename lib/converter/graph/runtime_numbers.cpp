// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/runtime_numbers.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::NamedValue;
using torch::jit::Node;
using torch::jit::Value;

bool is_tensor(const Value* value) {
  return value->type()->kind() == c10::TypeKind::TensorType;
}

bool is_number(const c10::TypePtr& type) {
  return type->kind() == c10::TypeKind::IntType || type->kind() == c10::TypeKind::FloatType ||
         type->kind() == c10::TypeKind::BoolType || type->kind() == c10::TypeKind::NumberType;
}

// Returns the type of a tensor that the model computes; null for constants and for sizes.
const TensorType* runtime_type(const Value* value, const TypeMap& types) {
  return is_tensor(value) ? tensor_type_of(value, types) : nullptr;
}

// Inserts tensor nodes before the node that they replace.
class Replacement {
 public:
  Replacement(Node* node, const TypeMap& types)
      : graph_(*node->owningGraph()), node_(node), types_(types), guard_(node) {}

  Value* insert(const char* name, const std::vector<NamedValue>& arguments) {
    return placed(graph_.insert(c10::Symbol::aten(name), arguments));
  }

  // Returns a tensor of one element with rank 0; null for a tensor of more or fewer elements.
  Value* single(Value* tensor) {
    const TensorType* type = runtime_type(tensor, types_);
    if (type == nullptr || !type->dims.empty()) {
      if (type != nullptr && product(type->dims) != Dim(1)) return nullptr;
      return insert("reshape", {tensor, c10::IValue(std::vector<int64_t>{})});
    }
    return tensor;
  }

  // Replaces item(), int(x), float(x) and bool(x). TorchScript's integers are int64.
  Value* taken(c10::optional<at::ScalarType> asked = c10::nullopt) {
    Value* tensor = node_->input(0);
    const TensorType* type = runtime_type(tensor, types_);
    Value* number = type == nullptr ? nullptr : single(tensor);
    if (number == nullptr) return nullptr;
    const bool is_whole = !c10::isFloatingType(type->dtype) && type->dtype != at::kBool;
    const at::ScalarType dtype = asked.value_or(is_whole ? at::kLong : type->dtype);
    if (dtype == type->dtype) return number;
    return dtype == at::kBool ? insert("ne", {number, 0}) : insert("to", {number, static_cast<int64_t>(dtype)});
  }

  // Returns all inputs as tensors; empty if an input is neither a tensor nor a constant number.
  std::vector<NamedValue> inputs() {
    std::vector<NamedValue> result;
    for (Value* input : node_->inputs()) {
      Value* tensor = as_tensor(input);
      if (tensor == nullptr) return {};
      result.emplace_back(tensor);
    }
    return result;
  }

  // Inserts aten::`name` with all inputs as tensors.
  Value* on_tensors(const char* name) {
    const std::vector<NamedValue> arguments = inputs();
    return arguments.empty() ? nullptr : insert(name, arguments);
  }

  // Replaces aten::__range_length(low, high, step): the number of rounds of a loop over that range.
  Value* range_length() {
    const auto step = torch::jit::toIValue(node_->input(2));
    const std::vector<NamedValue> bounds = inputs();
    if (!step || bounds.empty() || step->toInt() < 1) return nullptr;
    Value* span = insert("sub", {bounds[1], bounds[0]});
    if (step->toInt() == 1) return span;
    return insert("floor_divide", {insert("add", {span, step->toInt() - 1}), step->toInt()});
  }

  Value* range_index() {
    const auto step = torch::jit::toIValue(node_->input(2));
    const std::vector<NamedValue> numbers = inputs();
    if (!step || numbers.empty()) return nullptr;
    return insert("add", {insert("mul", {numbers[0], step->toInt()}), numbers[1]});
  }

  // Replaces aten::select, x[..., index], by index and squeeze; null if the axis is unknown.
  Value* selected() {
    const auto axis = axis_of(node_->input(0), node_->input(1));
    if (!axis) return nullptr;
    Value* index = insert("reshape", {node_->input(2), c10::IValue(std::vector<int64_t>{1})});
    std::vector<Value*> indices(static_cast<size_t>(*axis), graph_.insertConstant(c10::IValue()));
    indices.push_back(index);
    Node* list = graph_.insertNode(graph_.createList(c10::OptionalType::ofTensor(), indices));
    Value* slices = insert("index", {node_->input(0), placed(list->output())});
    return insert("squeeze", {slices, *axis});
  }

  // Inserts a node of the same kind, so that PyTorch chooses the overload that takes tensors; null if there is none.
  Value* again() {
    Node* created = graph_.insertNode(graph_.create(node_->kind(), node_->inputs(), 1));
    created->output()->setType(node_->output()->type());
    placed(created->output());
    if (created->maybeSchema() != nullptr) return created->output();
    created->destroy();
    return nullptr;
  }

 private:
  // Returns the axis counted from the front; nothing if it is unknown or out of range.
  std::optional<int64_t> axis_of(const Value* tensor, const Value* named) const {
    const auto axis = torch::jit::toIValue(named), constant = torch::jit::toIValue(tensor);
    const TensorType* type = runtime_type(tensor, types_);
    if (!axis || (type == nullptr && !(constant && constant->isTensor()))) return std::nullopt;
    const int64_t rank = type != nullptr ? static_cast<int64_t>(type->rank()) : constant->toTensor().dim();
    const int64_t number = axis->toInt() < 0 ? axis->toInt() + rank : axis->toInt();
    return number >= 0 && number < rank ? std::optional(number) : std::nullopt;
  }

  Value* placed(Value* value) {
    value->node()->setSourceRange(node_->sourceRange());
    value->node()->setScope(node_->scope());
    return value;
  }

  Graph& graph_;
  Node* node_;
  const TypeMap& types_;
  torch::jit::WithInsertPoint guard_;
};

using Maker = std::function<Value*(Replacement&)>;

Maker taking(at::ScalarType dtype) {
  return [dtype](Replacement& made) { return made.taken(dtype); };
}

Maker by(const char* name) {
  return [name](Replacement& made) { return made.on_tensors(name); };
}

// Returns the function that replaces an operator whose result is a number, or prim::NumToTensor; null for others.
const Maker* maker_for(const Node& node) {
  static const Maker kItem = [](Replacement& made) { return made.taken(); };
  static const std::map<std::string, Maker> makers = {
      {"aten::item", kItem},
      {"aten::ScalarImplicit", kItem},
      {"prim::NumToTensor", kItem},
      {"aten::Int", taking(at::kLong)},
      {"aten::IntImplicit", taking(at::kLong)},
      {"aten::Float", taking(at::kFloat)},
      {"aten::FloatImplicit", taking(at::kFloat)},
      {"aten::Bool", taking(at::kBool)},
      {"aten::add", by("add")},
      {"aten::sub", by("sub")},
      {"aten::mul", by("mul")},
      {"aten::div", by("div")},
      {"aten::floordiv", by("floor_divide")},
      {"aten::remainder", by("remainder")},
      {"aten::neg", by("neg")},
      {"prim::abs", by("abs")},
      {"prim::min", by("minimum")},
      {"prim::max", by("maximum")},
      {"aten::lt", by("lt")},
      {"aten::le", by("le")},
      {"aten::gt", by("gt")},
      {"aten::ge", by("ge")},
      {"aten::eq", by("eq")},
      {"aten::ne", by("ne")},
      {"aten::__not__", by("logical_not")},
      {"aten::__and__", by("bitwise_and")},
      {"aten::__or__", by("bitwise_or")},
      {"aten::__xor__", by("bitwise_xor")},
      {"aten::__range_length", [](Replacement& made) { return made.range_length(); }},
      {"aten::__derive_index", [](Replacement& made) { return made.range_index(); }},
  };
  const auto found = makers.find(node.kind().toQualString());
  return found == makers.end() ? nullptr : &found->second;
}

// True if a computed tensor stands in an argument whose type is a number.
bool reads_runtime_number(const Node& node, const TypeMap& types) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr) return false;
  for (size_t i = 0; i < node.inputs().size() && i < schema->arguments().size(); ++i) {
    const c10::TypePtr& type = schema->arguments()[i].type();
    if (is_number(type) && runtime_type(node.input(i), types) != nullptr) return true;
  }
  return false;
}

}  // namespace

Value* as_tensor(Value* value) {
  if (is_tensor(value)) return value;
  const auto constant = torch::jit::toIValue(value);
  if (!constant || !is_number(value->type())) return nullptr;
  Graph& graph = *value->owningGraph();
  if (constant->isBool()) return graph.insertConstant(at::scalar_tensor(constant->toBool(), at::kBool));
  if (constant->isInt()) return graph.insertConstant(at::scalar_tensor(constant->toInt(), at::kLong));
  return graph.insertConstant(at::scalar_tensor(constant->toDouble(), at::kFloat));
}

Value* replacement_on_tensors(Node* node, const TypeMap& types) {
  const auto inputs = node->inputs();
  const bool any_runtime =
      std::any_of(inputs.begin(), inputs.end(), [&](const Value* input) { return runtime_type(input, types); });
  if (!any_runtime || node->outputs().size() != 1) return nullptr;
  if (node->kind() == c10::aten::select && runtime_type(node->input(2), types) != nullptr) {
    return Replacement(node, types).selected();
  }
  const bool gives_number = is_number(node->output()->type()) || node->kind() == c10::prim::NumToTensor;
  const Maker* maker = gives_number ? maker_for(*node) : nullptr;
  if (gives_number ? maker == nullptr : !reads_runtime_number(*node, types)) return nullptr;
  Replacement replacement(node, types);
  return gives_number ? (*maker)(replacement) : replacement.again();
}

}  // namespace nnapi_convert
