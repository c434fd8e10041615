// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/saturation.h"

#include <torch/csrc/jit/ir/constants.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

namespace nnapi_convert {
namespace {

bool keeps_numbers(const TorchNode& node) {
  static const std::set<std::string> kinds = {"aten::abs",         "aten::alias",
                                              "aten::cat",         "aten::chunk",
                                              "aten::clone",       "aten::constant_pad_nd",
                                              "aten::contiguous",  "aten::detach",
                                              "aten::embedding",   "aten::expand",
                                              "aten::expand_as",   "aten::flatten",
                                              "aten::flip",        "aten::gather",
                                              "aten::index",       "aten::index_select",
                                              "aten::masked_fill", "aten::movedim",
                                              "aten::narrow",      "aten::neg",
                                              "aten::pad",         "aten::permute",
                                              "aten::repeat",      "aten::reshape",
                                              "aten::roll",        "aten::select",
                                              "aten::slice",       "aten::split",
                                              "aten::squeeze",     "aten::stack",
                                              "aten::t",           "aten::tile",
                                              "aten::to",          "aten::transpose",
                                              "aten::unbind",      "aten::unflatten",
                                              "aten::unsqueeze",   "aten::view",
                                              "aten::where",       "prim::ListConstruct",
                                              "prim::ListUnpack"};
  return kinds.count(node.kind().toQualString()) != 0;
}

bool comes_from_outside(const TorchNode& node) {
  return node.kind() == c10::prim::Param || node.kind() == c10::prim::Constant || node.kind() == c10::prim::GetAttr;
}

bool is_finite(const c10::IValue& constant) {
  if (constant.isDouble()) return std::isfinite(constant.toDouble());
  if (!constant.isTensor()) return true;
  const at::Tensor& tensor = constant.toTensor();
  return !tensor.defined() || tensor.is_quantized() || tensor.isfinite().all().item<bool>();
}

// Goes through the values from which a value may come, each once, although a value may be read many times.
class Origins {
 public:
  explicit Origins(const TorchValue& value) { add(value); }

  void add(const TorchValue& value) {
    if (seen_.insert(&value).second) open_.push_back(&value);
  }
  // Returns the next value; null if all were returned.
  const TorchValue* next() {
    if (open_.empty()) return nullptr;
    const TorchValue* value = open_.back();
    open_.pop_back();
    return value;
  }

 private:
  std::unordered_set<const TorchValue*> seen_;
  std::vector<const TorchValue*> open_;
};

// True for integers and bools, finite constants, and sums and products of these.
bool is_of_finite_numbers(const TorchValue& value, const TypeMap& types) {
  static const std::set<std::string> arithmetic = {"aten::add", "aten::mul", "aten::rsub", "aten::sub"};
  Origins origins(value);
  while (const TorchValue* origin = origins.next()) {
    const TensorType* type = tensor_type_of(origin, types);
    if (type != nullptr && c10::isIntegralType(type->dtype, true)) continue;
    if (const auto constant = torch::jit::toIValue(origin)) {
      if (!is_finite(*constant)) return false;
      continue;
    }
    const TorchNode& node = *origin->node();
    if (!keeps_numbers(node) && arithmetic.count(node.kind().toQualString()) == 0) return false;
    for (const TorchValue* input : node.inputs()) origins.add(*input);
  }
  return true;
}

bool has_tensors(const TorchValue& value) {
  return value.type()->kind() == c10::TypeKind::TensorType || value.type()->kind() == c10::TypeKind::ListType;
}

}  // namespace

bool may_be_saturated(const TorchValue& value, const TypeMap& types) {
  Origins origins(value);
  while (const TorchValue* origin = origins.next()) {
    const TorchNode& node = *origin->node();
    if (comes_from_outside(node)) continue;
    if (!keeps_numbers(node)) {
      if (!is_of_finite_numbers(*origin, types)) return true;
      continue;
    }
    for (const TorchValue* input : node.inputs()) {
      if (has_tensors(*input)) origins.add(*input);
    }
  }
  return false;
}

double least_infinite(const OpArguments& args, const std::string& name) {
  return may_be_saturated(*args.input(name), args.types()) ? std::numeric_limits<float>::max()
                                                           : std::numeric_limits<double>::infinity();
}

}  // namespace nnapi_convert
