#include "lib/ops/saturation.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>

namespace nnapi_convert {
namespace {

bool keeps_numbers(const TorchNode& node) {
  static const std::set<std::string> kinds = {"aten::abs",         "aten::alias",     "aten::cat",
                                              "aten::chunk",       "aten::clone",     "aten::constant_pad_nd",
                                              "aten::contiguous",  "aten::detach",    "aten::expand",
                                              "aten::expand_as",   "aten::flatten",   "aten::flip",
                                              "aten::gather",      "aten::index",     "aten::index_select",
                                              "aten::masked_fill", "aten::movedim",   "aten::narrow",
                                              "aten::neg",         "aten::pad",       "aten::permute",
                                              "aten::repeat",      "aten::reshape",   "aten::roll",
                                              "aten::select",      "aten::slice",     "aten::split",
                                              "aten::squeeze",     "aten::stack",     "aten::t",
                                              "aten::tile",        "aten::to",        "aten::transpose",
                                              "aten::unbind",      "aten::unflatten", "aten::unsqueeze",
                                              "aten::view",        "aten::where",     "prim::ListConstruct",
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

// True for integers and bools, finite constants, and sums and products of these.
bool is_of_finite_numbers(const TorchValue& value, const TypeMap& types) {
  static const std::set<std::string> arithmetic = {"aten::add", "aten::mul", "aten::rsub", "aten::sub"};
  const TensorType* type = tensor_type_of(&value, types);
  if (type != nullptr && c10::isIntegralType(type->dtype, true)) return true;
  if (const auto constant = torch::jit::toIValue(&value)) return is_finite(*constant);
  const TorchNode& node = *value.node();
  if (!keeps_numbers(node) && arithmetic.count(node.kind().toQualString()) == 0) return false;
  const auto inputs = node.inputs();
  return std::all_of(inputs.begin(), inputs.end(),
                     [&](const TorchValue* input) { return is_of_finite_numbers(*input, types); });
}

}  // namespace

bool may_be_saturated(const TorchValue& value, const TypeMap& types) {
  const TorchNode& node = *value.node();
  if (comes_from_outside(node)) return false;
  if (!keeps_numbers(node)) return !is_of_finite_numbers(value, types);
  const auto inputs = node.inputs();
  return std::any_of(inputs.begin(), inputs.end(), [&](const TorchValue* input) {
    return (input->type()->kind() == c10::TypeKind::TensorType || input->type()->kind() == c10::TypeKind::ListType) &&
           may_be_saturated(*input, types);
  });
}

double least_infinite(const OpArguments& args, const std::string& name) {
  return may_be_saturated(*args.input(name), args.types()) ? std::numeric_limits<float>::max()
                                                           : std::numeric_limits<double>::infinity();
}

}  // namespace nnapi_convert
