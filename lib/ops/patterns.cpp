// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/patterns.h"
#include "lib/ops/node_place.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

namespace nnapi_convert {
namespace {

using torch::jit::NamedValue;
using torch::jit::Node;
using torch::jit::Value;

// Returns the node that makes the value, if it has one of these kinds; else null.
Node* maker(const Value* value, std::initializer_list<const char*> kinds) {
  Node* node = const_cast<Node*>(value->node());
  const std::string found = node->kind().toQualString();
  const bool is_one = std::any_of(kinds.begin(), kinds.end(), [&](const char* kind) { return found == kind; });
  return is_one ? node : nullptr;
}

Value* input_of(const Node* node, const std::string& name) {
  const auto index = node->schema().argumentIndexWithName(name);
  return index ? const_cast<Value*>(node->input(static_cast<size_t>(*index))) : nullptr;
}

std::optional<double> number(const Value* value) {
  const auto constant = torch::jit::toIValue(value);
  if (!constant) return std::nullopt;
  if (constant->isTensor()) {
    const at::Tensor& tensor = constant->toTensor();
    return tensor.defined() && tensor.numel() == 1 ? std::optional<double>(tensor.item().toDouble()) : std::nullopt;
  }
  if (constant->isDouble() || constant->isInt()) return constant->toScalar().toDouble();
  return std::nullopt;
}

bool is_number(const Value* value, double wanted) {
  return number(value) == wanted;
}

bool is_none(const Value* value) {
  const auto constant = torch::jit::toIValue(value);
  return constant && constant->isNone();
}

std::optional<std::vector<int64_t>> integers(const Value* value) {
  const auto constant = torch::jit::toIValue(value);
  if (!constant || !constant->isIntList()) return std::nullopt;
  return constant->toIntVector();
}

bool are_all(const std::vector<int64_t>& values, size_t first, int64_t wanted) {
  return std::all_of(values.begin() + static_cast<std::ptrdiff_t>(std::min(first, values.size())), values.end(),
                     [&](int64_t value) { return value == wanted; });
}

// Returns the value before operators that keep the sequence of its elements.
const Value* before_reshapes(const Value* value) {
  while (const Node* node =
             maker(value, {"aten::view", "aten::reshape", "aten::squeeze", "aten::unsqueeze", "aten::flatten"})) {
    value = node->input(0);
  }
  return value;
}

bool is_square_of(const Value* value, const Value* x) {
  if (const Node* node = maker(value, {"aten::mul"})) return node->input(0) == x && node->input(1) == x;
  if (const Node* node = maker(value, {"aten::pow"})) return node->input(0) == x && is_number(node->input(1), 2);
  if (const Node* node = maker(value, {"aten::square"})) return node->input(0) == x;
  return false;
}

const Dims* dims_of(const TypeMap& types, const Value* value) {
  const TensorType* type = tensor_type_of(value, types);
  return type == nullptr || type->dtype != at::kFloat ? nullptr : &type->dims;
}

// A value, and the number by which it is multiplied or that is added to it.
struct Affine {
  const Value* value;
  double number;
};

std::optional<Affine> product_with_number(const Value* value) {
  const Node* node = maker(value, {"aten::mul"});
  if (node == nullptr) return std::nullopt;
  if (const auto factor = number(node->input(1))) return Affine{node->input(0), *factor};
  if (const auto factor = number(node->input(0))) return Affine{node->input(1), *factor};
  return std::nullopt;
}

std::optional<Affine> sum_with_number(const Value* value) {
  const Node* node = maker(value, {"aten::add"});
  if (node == nullptr || node->inputs().size() != 3 || !is_number(node->input(2), 1)) return std::nullopt;
  if (const auto offset = number(node->input(1))) return Affine{node->input(0), *offset};
  if (const auto offset = number(node->input(0))) return Affine{node->input(1), *offset};
  return std::nullopt;
}

// Returns the numbers of zeros that a pad adds before and after an axis; nothing if it pads other axes or with other
// numbers.
std::optional<std::pair<int64_t, int64_t>> zeros_along(const Node* pad, size_t rank, size_t axis) {
  const auto sides = integers(input_of(pad, "pad"));
  const Value* mode = input_of(pad, "mode");
  const bool is_constant = mode == nullptr || torch::jit::toIValue(mode)->toStringRef() == "constant";
  const Value* value = input_of(pad, "value");
  if (!sides || !is_constant || !(is_none(value) || is_number(value, 0))) return std::nullopt;
  std::vector<int64_t> all = *sides;  // of the last axis first
  all.resize(2 * rank);
  const size_t place = 2 * (rank - 1 - axis);
  const std::pair<int64_t, int64_t> found{all[place], all[place + 1]};
  all[place] = all[place + 1] = 0;
  return are_all(all, 0, 0) ? std::optional(found) : std::nullopt;
}

// Returns over how many channels `value` is the mean of x's squares, computed by a pool along the axis to which the
// channels are moved, [N, 1, C, ...]; 0 for anything else.
int64_t window_of_mean_squares(const Value* value, const Value* x, const TypeMap& types) {
  constexpr size_t kChannels = 2;
  const Dims *dims = dims_of(types, x), *result = dims_of(types, value);
  const Node* pool = maker(before_reshapes(value), {"aten::avg_pool2d", "aten::avg_pool3d"});
  if (dims == nullptr || result == nullptr || *dims != *result || dims->size() < 2 || pool == nullptr) return 0;
  const auto kernel = integers(input_of(pool, "kernel_size")), stride = integers(input_of(pool, "stride"));
  const auto padding = integers(input_of(pool, "padding"));
  if (!kernel || !stride || !padding || kernel->size() < 2 || !is_none(input_of(pool, "divisor_override"))) return 0;
  const int64_t size = kernel->at(0);
  if (!are_all(*kernel, 1, 1) || stride->empty() || !are_all(*stride, 0, 1) || padding->empty()) return 0;
  if (padding->size() == 1 ? padding->at(0) != 0 : !are_all(*padding, 1, 0)) return 0;
  const auto counts_padding = torch::jit::toIValue(input_of(pool, "count_include_pad"));
  if (padding->at(0) != 0 && !(counts_padding && counts_padding->toBool())) return 0;
  const Value* moved = pool->input(0);
  std::pair<int64_t, int64_t> zeros{0, 0};
  if (const Node* pad = maker(moved, {"aten::pad", "aten::constant_pad_nd"})) {
    const auto found = zeros_along(pad, dims->size() + 1, kChannels);
    if (!found) return 0;
    zeros = *found;
    moved = pad->input(0);
  }
  Dims wanted = *dims;
  wanted.insert(wanted.begin() + 1, Dim(1));
  const Dims* found = dims_of(types, moved);
  const bool is_centred = zeros.first == zeros.second && 2 * (zeros.first + padding->at(0)) + 1 == size;
  if (found == nullptr || *found != wanted || !is_centred || !is_square_of(before_reshapes(moved), x)) return 0;
  return size;
}

// Inserts one of the converter's own operators before the node that it replaces.
Value* insert(Node* node, const char* name, const std::vector<NamedValue>& arguments) {
  torch::jit::WithInsertPoint here(node);
  Value* result = node->owningGraph()->insert(c10::Symbol::fromQualString(name), arguments);
  take_place(*result->node(), *node);
  result->node()->setScope(node->scope());
  return result;
}

// Recognises x / (k + alpha * mean of squares) ** beta.
Value* local_response_norm(Node* node, const TypeMap& types) {
  if (node->inputs().size() != 2) return nullptr;
  Value* x = node->input(0);
  const Node* power = maker(node->input(1), {"aten::pow"});
  const auto beta = power == nullptr ? std::nullopt : number(power->input(1));
  const auto sum = beta ? sum_with_number(power->input(0)) : std::nullopt;
  const auto product = sum ? product_with_number(sum->value) : std::nullopt;
  const int64_t size = product ? window_of_mean_squares(product->value, x, types) : 0;
  if (size == 0) return nullptr;
  return insert(node, "nnapi_convert::local_response_norm", {x, size, product->number, *beta, sum->number});
}

// Recognises (sign(mean) * relu(abs(mean)) * cells) ** 0.5 with mean = avg_pool2d(x ** 2).
Value* l2_pool(Node* node, const TypeMap& types) {
  if (!is_number(node->input(1), 0.5)) return nullptr;
  const auto scaled = product_with_number(node->input(0));
  const Node* product = scaled ? maker(scaled->value, {"aten::mul"}) : nullptr;
  const Node* sign = product == nullptr ? nullptr : maker(product->input(0), {"aten::sign"});
  const Node* relu = product == nullptr ? nullptr : maker(product->input(1), {"aten::relu"});
  const Node* abs = relu == nullptr ? nullptr : maker(relu->input(0), {"aten::abs"});
  if (sign == nullptr || abs == nullptr || sign->input(0) != abs->input(0)) return nullptr;
  const Node* pool = maker(abs->input(0), {"aten::avg_pool2d"});
  const Node* square = pool == nullptr ? nullptr : maker(pool->input(0), {"aten::pow"});
  if (square == nullptr || !is_square_of(square->output(), square->input(0))) return nullptr;
  Value* x = const_cast<Value*>(square->input(0));
  const auto kernel = integers(input_of(pool, "kernel_size")), padding = integers(input_of(pool, "padding"));
  if (dims_of(types, x) == nullptr || !kernel || !padding || !are_all(*padding, 0, 0)) return nullptr;
  const int64_t cells = kernel->size() == 1 ? kernel->at(0) * kernel->at(0) : kernel->at(0) * kernel->at(1);
  if (scaled->number != static_cast<double>(cells) || !is_none(input_of(pool, "divisor_override"))) return nullptr;
  return insert(node, "nnapi_convert::l2_pool2d",
                {x, input_of(pool, "kernel_size"), input_of(pool, "stride"), input_of(pool, "ceil_mode")});
}

bool asks_for_zero(const Node* node) {
  const c10::FunctionSchema* schema = node->maybeSchema();
  return schema != nullptr && schema->name() == "aten::to" && schema->overload_name() == "dtype" &&
         is_number(node->input(1), static_cast<double>(at::kBool));
}

// Recognises a product of integers whose readers make a bool of it. NNAPI's integers hold the factors, but not always
// the product.
Value* product_of_masks(Node* node, const TypeMap& types) {
  const auto is_int64 = [&](const Value* value) {
    const TensorType* type = tensor_type_of(value, types);
    return type != nullptr && type->dtype == at::kLong;
  };
  const auto& uses = node->output()->uses();
  const bool is_mask = !uses.empty() && std::all_of(uses.begin(), uses.end(), [](const torch::jit::Use& use) {
    return use.offset == 0 && asks_for_zero(use.user);
  });
  if (!is_mask || !is_int64(node->input(0)) || !is_int64(node->input(1))) return nullptr;
  return insert(node, "aten::logical_and", {node->input(0), node->input(1)});
}

}  // namespace

const Patterns& all_patterns() {
  static const Patterns patterns = {
      {"aten::div", "nnapi_convert::local_response_norm", local_response_norm},
      {"aten::pow", "nnapi_convert::l2_pool2d", l2_pool},
      {"aten::mul", "aten::logical_and", product_of_masks},
  };
  return patterns;
}

torch::jit::Value* recognise(Node* node, const TypeMap& types) {
  const std::string kind = node->kind().toQualString();
  for (const Pattern& pattern : all_patterns()) {
    if (kind != pattern.last) continue;
    if (Value* found = pattern.recognise(node, types)) return found;
  }
  return nullptr;
}

}  // namespace nnapi_convert
