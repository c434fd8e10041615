// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/guarded_call.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>

#include "lib/converter/graph/packed_layer.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Stack;

bool has_few_elements(const c10::IValue& value) {
  if (value.isTensor()) return !value.toTensor().defined() || value.toTensor().numel() <= kMostEarlyElements;
  if (!value.isTensorList()) return true;
  const auto tensors = value.toTensorVector();
  return std::all_of(tensors.begin(), tensors.end(), [](const at::Tensor& tensor) {
    return !tensor.defined() || tensor.numel() <= kMostEarlyElements;
  });
}

bool divides(const Node& node) {
  static const std::set<std::string> kinds = {
      "aten::div",  "aten::div_",          "aten::floordiv",   "aten::floor_divide", "aten::divmod", "aten::remainder",
      "aten::fmod", "aten::floor_divide_", "aten::remainder_", "aten::fmod_",        "aten::divide", "aten::divide_"};
  return kinds.count(node.kind().toQualString()) != 0;
}

// Returns an integer as a tensor, and a tensor of integers as it is; an undefined tensor for other values.
at::Tensor integers_in(const c10::IValue& value) {
  if (value.isInt()) return at::scalar_tensor(value.toInt(), at::kLong);
  const bool is_fit = value.isTensor() && value.toTensor().defined() && !value.toTensor().is_quantized() &&
                      c10::isIntegralType(value.toTensor().scalar_type(), /*includeBool=*/false);
  return is_fit ? value.toTensor() : at::Tensor();
}

int64_t least_of(at::ScalarType dtype) {
  switch (dtype) {
    case at::kInt:
      return std::numeric_limits<int32_t>::min();
    case at::kLong:
      return std::numeric_limits<int64_t>::min();
    default:
      return 0;  // smaller integers are computed as int32
  }
}

// True if the division traps in the processor: integers by the number 0, or the least integer by -1.
bool may_trap(const Stack& arguments) {
  if (arguments.size() < 2) return false;
  const at::Tensor dividend = integers_in(arguments[0]), divisor = integers_in(arguments[1]);
  if (!dividend.defined() || !divisor.defined()) return false;
  if (!arguments[1].isTensor() && arguments[1].toInt() == 0) return true;  // tensors' zeros are found by LibTorch
  const int64_t least = least_of(at::result_type(dividend, divisor));
  if (least == 0 || !divisor.eq(-1).any().item().toBool()) return false;
  return dividend.eq(least).any().item().toBool();
}

// True if the argument for a dtype is no dtype's number: LibTorch takes any number and reads its tables there.
bool has_wrong_dtype(const Node& node, const Stack& arguments) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr) return false;
  for (size_t i = 0; i < std::min(arguments.size(), schema->arguments().size()); ++i) {
    const bool is_dtype = schema->arguments()[i].name().find("dtype") != std::string::npos;
    if (!is_dtype || !arguments[i].isInt()) continue;
    const int64_t dtype = arguments[i].toInt();
    if (dtype < 0 || dtype >= static_cast<int64_t>(at::ScalarType::Undefined)) return true;
  }
  return false;
}

// True if the input of a quantised linear layer has rows of another length than its weights. QNNPACK's layers read on
// where a row is longer, and compute with less where it is shorter. Other layers, and FBGEMM's, raise an error.
bool misfits_weights(const Node& node, const Stack& arguments) {
  if (std::string(node.kind().ns().toUnqualString()) != "quantized" || arguments.size() < 2) return false;
  const auto layer = packed_as<LinearPackedParamsBase>(arguments[1]);
  if (layer == nullptr || !arguments[0].isTensor() || arguments[0].toTensor().dim() == 0) return false;
  return std::get<0>(layer->unpack()).size(1) != arguments[0].toTensor().size(-1);
}

// True if an operator on numbers or lists gets a number so large that it takes too much time or memory.
bool is_endless(const Node& node, const Stack& arguments) {
  constexpr int64_t kMostElements = int64_t{1} << 24, kMostRounds = 1000;
  const auto is_int_above = [&](size_t i, int64_t limit) {
    return arguments.size() > i && arguments[i].isInt() && arguments[i].toInt() > limit;
  };
  const std::string kind = node.kind().toQualString();
  if (kind == "aten::factorial") return is_int_above(0, kMostRounds);
  if (kind != "aten::mul" || arguments.size() != 2 || arguments[0].isTensor() || arguments[1].isTensor()) return false;
  for (const size_t i : {0, 1}) {
    if (!arguments[i].isList() || arguments[i].toListRef().empty()) continue;
    return is_int_above(1 - i, kMostElements / static_cast<int64_t>(arguments[i].toListRef().size()));
  }
  return false;
}

}  // namespace

bool has_few_elements(const Stack& values) {
  return std::all_of(values.begin(), values.end(), [](const c10::IValue& value) { return has_few_elements(value); });
}

bool may_be_called(const Node& node, const Stack& arguments) {
  return has_few_elements(arguments) && !has_wrong_dtype(node, arguments) && !(divides(node) && may_trap(arguments)) &&
         !is_endless(node, arguments) && !misfits_weights(node, arguments);
}

void call_operator(const Node& node, Stack& stack) {
  if (!may_be_called(node, stack)) throw std::runtime_error("arguments that LibTorch can't compute with");
  node.getOperation()(stack);
  if (!has_few_elements(stack)) throw std::runtime_error("a result of too many elements");
}

}  // namespace nnapi_convert
