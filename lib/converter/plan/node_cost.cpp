// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/plan/node_cost.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "lib/base/begins_with.h"
#include "lib/converter/plan/node_weights.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

using Sizes = std::optional<std::vector<int64_t>>;

// A node with its arguments by their names in the schema, and the sizes of its inputs and results.
class Call {
 public:
  Call(const TorchNode& node, const SizesOfValue& sizes_of) : node_(node), sizes_of_(sizes_of) {}

  // Returns the first argument that has one of the names; null if there is none.
  const TorchValue* argument(std::initializer_list<const char*> names) const {
    const c10::FunctionSchema* schema = node_.maybeSchema();
    for (const char* name : names) {
      const auto index = schema == nullptr ? c10::nullopt : schema->argumentIndexWithName(name);
      if (index) return node_.input(static_cast<size_t>(*index));
    }
    return nullptr;
  }
  const TorchValue* first() const { return node_.inputs().empty() ? nullptr : node_.input(0); }

  Sizes sizes(const TorchValue* value) const {
    if (value == nullptr) return std::nullopt;
    const auto constant = torch::jit::toIValue(value);
    return constant ? weight_sizes(*constant) : sizes_of_(value);
  }
  Count elements(const TorchValue* value) const {
    const Sizes found = sizes(value);
    return found ? product_of(*found) : Count(std::nullopt);
  }
  Count result() const { return elements(node_.outputs().empty() ? nullptr : node_.output(0)); }
  // Returns the number of vectors along the last axis of a value.
  Count rows(const TorchValue* value) const {
    const Sizes found = sizes(value);
    if (!found || found->empty()) return Count(std::nullopt);
    return product_of(*found).divided_by(found->back());
  }
  // Returns the size of an axis; -1 is the last axis.
  Count size(const TorchValue* value, int64_t axis) const {
    const Sizes found = sizes(value);
    const int64_t rank = found ? static_cast<int64_t>(found->size()) : 0;
    const int64_t place = axis < 0 ? axis + rank : axis;
    return place >= 0 && place < rank ? Count(found->at(static_cast<size_t>(place))) : Count(std::nullopt);
  }
  // Returns the number of elements of all matrices in an argument: a constant, or a list that the graph makes of them.
  Count matrices(const TorchValue* value) const {
    if (value == nullptr) return Count(std::nullopt);
    if (const auto constant = torch::jit::toIValue(value)) return matrix_elements(*constant);
    if (value->node()->kind() != c10::prim::ListConstruct) return Count(std::nullopt);
    Count sum = 0;
    for (const TorchValue* element : value->node()->inputs()) {
      const auto constant = torch::jit::toIValue(element);
      if (!constant) return Count(std::nullopt);
      const bool is_vector = constant->isTensor() && constant->toTensor().dim() != 2;
      if (!is_vector) sum += matrix_elements(*constant);
    }
    return sum;
  }
  bool is_true(const char* name) const {
    const TorchValue* value = argument({name});
    const auto constant = value == nullptr ? c10::nullopt : torch::jit::toIValue(value);
    return constant && constant->isBool() && constant->toBool();
  }

 private:
  const TorchNode& node_;
  const SizesOfValue& sizes_of_;
};

const TorchValue* weight_of(const Call& call) {
  return call.argument({"weight", "packed_weight", "W_prepack"});
}

// Returns the number of a filter's weights at one index of its first axis.
Count weights_of_one(const Call& call) {
  const Sizes filter = call.sizes(weight_of(call));
  if (!filter || filter->empty()) return Count(std::nullopt);
  return product_of(*filter).divided_by(filter->front());
}

// In a transposed convolution, each element of the input is multiplied by the weights of its channel.
Count of_transposed(const Call& call) {
  return call.elements(call.first()) * weights_of_one(call);
}

// In a convolution, each element of the result takes the weights of its channel.
Count of_convolution(const Call& call) {
  return call.is_true("transposed") ? of_transposed(call) : call.result() * weights_of_one(call);
}

// The filter of aten::conv_tbc is [size, inputs, outputs].
Count of_conv_tbc(const Call& call) {
  return call.result() * call.size(weight_of(call), 0) * call.size(weight_of(call), 1);
}

Count of_linear(const Call& call) {
  return call.rows(call.first()) * call.elements(weight_of(call));
}

// In a matrix product, each element of the result takes as many multiply-adds as the first matrix has columns.
Count of_product(const Call& call) {
  return call.result() * call.size(call.first(), -1);
}

Count of_added_product(const Call& call) {
  return call.result() * call.size(call.argument({"mat1", "batch1", "mat"}), -1);
}

Count of_summed_products(const Call& call) {
  return of_added_product(call) * call.size(call.argument({"batch1"}), 0);
}

Count of_bilinear(const Call& call) {
  return call.rows(call.argument({"input1"})) * call.elements(weight_of(call));
}

// A recurrent layer multiplies by every weight matrix once for each step of each row.
Count of_recurrent(const Call& call) {
  return call.rows(call.argument({"input", "data"})) * call.matrices(call.argument({"params"}));
}

Count of_cell(const Call& call) {
  return call.rows(call.argument({"input"})) *
         (call.matrices(call.argument({"w_ih"})) + call.matrices(call.argument({"w_hh"})));
}

// Attention has two products: queries by keys, and the resulting weights by values.
Count of_attention(const Call& call) {
  const TorchValue* query = call.argument({"query"});
  const TorchValue* value = call.argument({"value"});
  const Count keys = call.size(call.argument({"key"}), -2);
  return call.elements(query) * keys + call.rows(query) * keys * call.size(value, -1);
}

// For einsum of up to two operands, the multiply-adds are the product of the sizes of all letters; 0 if the result has
// all letters.
Count of_einsum(const Call& call) {
  const TorchValue* equation = call.argument({"equation"});
  const TorchValue* operands = call.argument({"tensors"});
  const auto text = equation == nullptr ? c10::nullopt : torch::jit::toIValue(equation);
  const bool is_read = text && text->isString() && operands->node()->kind() == c10::prim::ListConstruct;
  if (!is_read || operands->node()->inputs().size() > 2) return Count(std::nullopt);
  std::string letters = text->toStringRef();
  letters.erase(std::remove(letters.begin(), letters.end(), ' '), letters.end());
  if (letters.find('.') != std::string::npos) return Count(std::nullopt);
  const size_t arrow = letters.find("->");
  const std::string result = arrow == std::string::npos ? "" : letters.substr(arrow + 2);
  letters.resize(std::min(arrow, letters.size()));
  std::map<char, int64_t> sizes;
  for (const TorchValue* operand : operands->node()->inputs()) {
    const Sizes found = call.sizes(operand);
    const std::string own = letters.substr(0, letters.find(','));
    letters.erase(0, own.size() + 1);
    if (!found || own.size() != found->size()) return Count(std::nullopt);
    for (size_t i = 0; i < own.size(); ++i) sizes[own[i]] = std::max(sizes[own[i]], (*found)[i]);
  }
  const bool sums = std::any_of(sizes.begin(), sizes.end(),
                                [&](const auto& size) { return result.find(size.first) == std::string::npos; });
  if (operands->node()->inputs().size() < 2 || !sums) return 0;
  Count product = 1;
  for (const auto& [letter, size] : sizes) product *= size;
  return product;
}

using Formula = Count (*)(const Call&);

// Returns the formula; null where there is none.
Formula formula_of(Macs macs) {
  switch (macs) {
    case Macs::kUnstated:
    case Macs::kNone:
    case Macs::kOtherProduct:
    case Macs::kNotCounted:
      return nullptr;
    case Macs::kConvolution:
      return of_convolution;
    case Macs::kTransposed:
      return of_transposed;
    case Macs::kTimeConvolution:
      return of_conv_tbc;
    case Macs::kLinear:
      return of_linear;
    case Macs::kProduct:
      return of_product;
    case Macs::kAddedProduct:
      return of_added_product;
    case Macs::kSummedProducts:
      return of_summed_products;
    case Macs::kBilinear:
      return of_bilinear;
    case Macs::kEinsum:
      return of_einsum;
    case Macs::kRecurrent:
      return of_recurrent;
    case Macs::kCell:
      return of_cell;
    case Macs::kAttention:
      return of_attention;
  }
  return nullptr;
}

bool ends_with(const std::string& text, const std::string& part) {
  return text.size() >= part.size() && text.compare(text.size() - part.size(), part.size(), part) == 0;
}

// Returns the kind of an operator that states none. LibTorch's own operators have no multiply-adds, except for
// transforms, solvers, and gradients; those of other libraries may have some.
Macs unstated_macs(const TorchNode& node) {
  static const std::set<std::string> spaces = {"aten",       "prim",      "nnapi_convert", "quantized",
                                               "_quantized", "prepacked", "torchvision"};
  const std::string space = node.kind().ns().toUnqualString(), name = node.kind().toUnqualString();
  if (spaces.count(space) == 0) return Macs::kNotCounted;
  if (space == "torchvision") return ends_with(name, "_backward") ? Macs::kNotCounted : Macs::kNone;
  if (space != "aten") return Macs::kNone;
  const bool is_dear = begins_with(name, "linalg_") || begins_with(name, "fft_") || begins_with(name, "_fft_") ||
                       begins_with(name, "_mps_") || begins_with(name, "mps_") || ends_with(name, "_backward");
  return is_dear ? Macs::kNotCounted : Macs::kNone;
}

Macs macs_kind(const TorchNode& node) {
  const Macs own = find_traits(node).macs;
  if (own != Macs::kUnstated) return own;
  const std::string name = node.kind().toQualString();
  if (name.back() != '_') return unstated_macs(node);
  const Macs of_functional = find_traits(c10::Symbol::fromQualString(name.substr(0, name.size() - 1))).macs;
  return of_functional != Macs::kUnstated ? of_functional : unstated_macs(node);
}

}  // namespace

CostKind cost_kind(const TorchNode& node) {
  const Macs macs = macs_kind(node);
  if (macs == Macs::kNone) return CostKind::kNone;
  return macs == Macs::kNotCounted ? CostKind::kUnknown : CostKind::kProduct;
}

Count macs_of(const TorchNode& node, const SizesOfValue& sizes_of) {
  const Macs macs = macs_kind(node);
  if (macs == Macs::kNone) return 0;
  const Formula formula = formula_of(macs);
  return formula == nullptr ? Count(std::nullopt) : formula(Call(node, sizes_of));
}

}  // namespace nnapi_convert
