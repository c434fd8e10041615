#include "lib/ops/saturation.h"

#include <algorithm>
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

}  // namespace

bool may_be_saturated(const TorchValue& value) {
  const TorchNode& node = *value.node();
  if (comes_from_outside(node)) return false;
  if (!keeps_numbers(node)) return true;
  const auto inputs = node.inputs();
  return std::any_of(inputs.begin(), inputs.end(), [](const TorchValue* input) {
    return (input->type()->kind() == c10::TypeKind::TensorType || input->type()->kind() == c10::TypeKind::ListType) &&
           may_be_saturated(*input);
  });
}

double least_infinite(const OpArguments& args, const std::string& name) {
  return may_be_saturated(*args.input(name)) ? std::numeric_limits<float>::max()
                                             : std::numeric_limits<double>::infinity();
}

}  // namespace nnapi_convert
