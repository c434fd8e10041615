// SPDX-License-Identifier: BSD-3-Clause
// Products of several tensors: bilinear layers, einsum of three operands and more, quantised products.
#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "lib/base/split_text.h"
#include "lib/ops/decompositions.h"
#include "lib/ops/plain_calls.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

// A bilinear layer, x^T W[k] y for each k, as linear layers of any rank: the products of W[k] and x, times y for each
// k, summed for each k.
bool decompose_bilinear(Node* node) {
  constexpr int64_t kLargestConstant = 1 << 22;  // elements of the matrices that repeat y and sum the products
  const auto weight = known(node, "weight"), bias = known(node, "bias");
  if (!weight || !bias || weight->toTensor().scalar_type() != at::kFloat) return false;
  const at::Tensor w = weight->toTensor().detach();
  if (w.dim() != 3) return false;
  const int64_t count = w.size(0), first = w.size(1), second = w.size(2);
  if (count * second * std::max(second, count) > kLargestConstant) return false;
  const at::Tensor repeated = at::eye(second).repeat({count, 1});
  const at::Tensor summed = at::eye(count).repeat_interleave(second, 1).contiguous();
  const at::Tensor added = bias->isNone() ? at::zeros({count}) : bias->toTensor().detach();
  const at::Tensor none = at::zeros({count * second});
  PlainCalls plain(node);
  Value* products = plain.linear(argument(node, "input1"), w.permute({0, 2, 1}).reshape({count * second, first}), none);
  Value* factors = plain.linear(argument(node, "input2"), repeated, none);
  replace_by(node, {plain.linear(plain.insert("mul", {products, factors}), summed, added)});
  return true;
}

// Returns the axes of two operands that the result or other operands still need after their product.
std::string axes_of_product(const std::string& one, const std::string& other, const std::string& needed) {
  std::string axes;
  for (const char letter : one + other) {
    const bool is_new = axes.find(letter) == std::string::npos;
    if (is_new && needed.find(letter) != std::string::npos) axes += letter;
  }
  return axes;
}

constexpr const char* kDots = "...";

// Returns the axis of the letter, counted from the end if it stands behind "...".
int64_t axis_of_letter(const std::string& letters, size_t place) {
  const size_t dots = letters.find(kDots);
  const auto index = static_cast<int64_t>(place);
  return dots != std::string::npos && place > dots ? index - static_cast<int64_t>(letters.size()) : index;
}

// Returns the result's letters for an equation without an arrow: "...", then the letters that occur once, sorted.
std::string implied_letters(const std::vector<std::string>& operands) {
  std::map<char, int> counts;
  bool has_dots = false;
  for (const std::string& operand : operands) {
    for (const char letter : operand) ++counts[letter];
    has_dots = has_dots || operand.find(kDots) != std::string::npos;
  }
  std::string result = has_dots ? kDots : "";
  for (const auto& [letter, count] : counts) {
    if (letter != '.' && count == 1) result += letter;
  }
  return result;
}

// Takes the diagonal of the first two axes that have one letter; it becomes the last axis. False if there are none.
bool take_diagonal(PlainCalls& plain, std::string& letters, Value*& tensor) {
  for (size_t i = 0; i < letters.size(); ++i) {
    const size_t again = letters[i] == '.' ? std::string::npos : letters.find(letters[i], i + 1);
    if (again == std::string::npos) continue;
    tensor = plain.insert("diagonal", {tensor, int64_t{0}, axis_of_letter(letters, i), axis_of_letter(letters, again)});
    const char letter = letters[i];
    letters.erase(again, 1);
    letters.erase(i, 1);
    letters += letter;
    return true;
  }
  return false;
}

// An einsum with a letter twice in one operand becomes an einsum of the diagonals.
bool decompose_einsum_diagonals(Node* node) {
  const auto equation = known(node, "equation");
  Node* list = argument(node, "tensors")->node();
  if (!equation || list->kind() != c10::prim::ListConstruct) return false;
  std::string text = equation->toStringRef();
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const size_t arrow = text.find("->");
  std::vector<std::string> operands = split_text(text.substr(0, arrow), ',');
  if (operands.size() != list->inputs().size()) return false;
  const std::string result = arrow == std::string::npos ? implied_letters(operands) : text.substr(arrow + 2);
  PlainCalls plain(node);
  std::vector<Value*> tensors(list->inputs().begin(), list->inputs().end());
  bool any = false;
  std::string joined;
  for (size_t i = 0; i < operands.size(); ++i) {
    while (take_diagonal(plain, operands[i], tensors[i])) any = true;
    joined += (i == 0 ? "" : ",") + operands[i];
  }
  if (!any) return false;
  replace_by(node, {plain.insert("einsum", {c10::IValue(joined + "->" + result), plain.list(tensors)})});
  return true;
}

// An einsum of three and more operands becomes products of two, from left to right as PyTorch computes it.
bool decompose_einsum(Node* node) {
  if (decompose_einsum_diagonals(node)) return true;
  const auto equation = known(node, "equation");
  Node* list = argument(node, "tensors")->node();
  if (!equation || list->kind() != c10::prim::ListConstruct || list->inputs().size() < 3) return false;
  std::string text = equation->toStringRef();
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const size_t arrow = text.find("->");
  if (arrow == std::string::npos || text.find('.') != std::string::npos) return false;
  const std::string result = text.substr(arrow + 2);
  std::vector<std::string> axes = split_text(text.substr(0, arrow), ',');
  if (axes.size() != list->inputs().size()) return false;
  PlainCalls plain(node);
  const auto product = [&](const std::string& one, Value* left, const std::string& other, Value* right,
                           const std::string& wanted) {
    Graph& graph = *node->owningGraph();
    Value* both = graph.insertNode(graph.createList(c10::TensorType::get(), {left, right}))->output();
    return plain.insert("einsum", {c10::IValue(one + "," + other + "->" + wanted), both});
  };
  Value* value = list->input(0);
  for (size_t i = 1; i < axes.size(); ++i) {
    std::string needed = result;
    for (size_t j = i + 1; j < axes.size(); ++j) needed += axes[j];
    const bool is_last = i + 1 == axes.size();
    const std::string wanted = is_last ? result : axes_of_product(axes[i - 1], axes[i], needed);
    value = product(axes[i - 1], value, axes[i], list->input(i), wanted);
    axes[i] = wanted;
  }
  replace_by(node, {value});
  return true;
}

// A product of quantised tensors becomes one of floats.
bool decompose_quantized_matmul(Node* node) {
  PlainCalls plain(node);
  Value* product = plain.insert("matmul", {plain.insert("dequantize", {argument(node, "qa")}),
                                           plain.insert("dequantize", {argument(node, "qb")})});
  const auto dtype = static_cast<int64_t>(at::kQUInt8);  // PyTorch takes no other
  replace_by(node, {plain.insert("quantize_per_tensor",
                                 {product, argument(node, "scale"), argument(node, "zero_point"), dtype})});
  return true;
}

}  // namespace

Decompositions product_decompositions() {
  return {
      {"aten::bilinear", decompose_bilinear},
      {"aten::einsum", decompose_einsum},
      {"quantized::matmul", decompose_quantized_matmul},
  };
}

}  // namespace nnapi_convert
