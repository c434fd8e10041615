// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/indices.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <set>
#include <string>

#include "lib/nnapi/api_level.h"

namespace nnapi_convert {

std::vector<AxisIndex> axis_indices(const OpArguments& args) {
  std::vector<AxisIndex> found;
  if (const auto list = torch::jit::toIValue(args.input("indices"))) {
    const auto& elements = list->toListRef();
    for (size_t i = 0; i < elements.size(); ++i) {
      if (elements[i].isTensor()) found.push_back({i, nullptr, elements[i].toTensor()});
    }
    return found;
  }
  const TorchNode* node = args.input("indices")->node();
  args.require(node->kind() == c10::prim::ListConstruct, "a list of indices made elsewhere", "one made in place");
  for (size_t i = 0; i < node->inputs().size(); ++i) {
    const TorchValue* element = node->input(i);
    const auto constant = torch::jit::toIValue(element);
    if (constant && constant->isNone()) continue;
    found.push_back({i, constant ? nullptr : element, constant ? constant->toTensor() : at::Tensor()});
  }
  return found;
}

TensorType type_of(const OpArguments& args, const AxisIndex& index) {
  return index.computed != nullptr ? args.type_of(index.computed) : type_of_constant(index.constant);
}

void require_indices(const OpArguments& args, const TensorType& indices) {
  args.require(indices.dtype == at::kInt || indices.dtype == at::kLong, "indices " + to_text(indices),
               "int32 or int64");
}

nnapi::OperandId emit_gather(OpContext& ctx, const LoweredTensor& self, size_t axis, nnapi::OperandId indices,
                             const TensorType& type) {
  return ctx.emit_to(OperationCode::GATHER, {self.id, ctx.builder().int32(static_cast<int64_t>(axis)), indices}, type);
}

at::Tensor checked_indices(const OpArguments& args, const at::Tensor& indices, const Dim& size) {
  if (indices.scalar_type() == at::kBool || indices.scalar_type() == at::kByte) {
    args.require(indices.dim() == 1, fmt::format("a mask of rank {}", indices.dim()), "rank 1");
    return at::nonzero(indices).squeeze(1);
  }
  args.require(at::isIntegralType(indices.scalar_type(), false), "indices of " + dtype_name(indices.scalar_type()),
               "whole numbers");
  args.require(size.is_fixed() || indices.numel() == 0 || indices.min().item<int64_t>() >= 0,
               "negative indices of a flexible size", "a fixed size", "give every size of the input with --input");
  if (!size.is_fixed() || indices.numel() == 0) return indices.to(at::kLong);
  const int64_t count = size.value();
  const auto least = indices.min().item<int64_t>();
  const auto greatest = indices.max().item<int64_t>();
  args.require(least >= -count && greatest < count, fmt::format("indices from {} to {}", least, greatest),
               fmt::format("{} to {}", -count, count - 1));
  return at::where(indices.lt(0), indices + count, indices).to(at::kLong);
}

TensorType gathered(const TensorType& self, size_t axis, const Dims& indices) {
  Dims dims(self.dims.begin(), self.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(dims.end(), indices.begin(), indices.end());
  dims.insert(dims.end(), self.dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, self.dims.end());
  return self.with_dims(dims);
}

bool is_never_negative(const TorchValue& index) {
  static const std::set<std::string> same = {"aten::reshape",   "aten::view",   "aten::flatten",    "aten::squeeze",
                                             "aten::unsqueeze", "aten::detach", "aten::contiguous", "aten::to"};
  static const std::set<std::string> indices = {"aten::argmax", "aten::argmin", "aten::argsort"};
  static const std::set<std::string> pairs = {"aten::topk", "aten::sort", "aten::max", "aten::min"};  // values, indices
  const TorchNode& node = *index.node();
  const std::string kind = node.kind().toQualString();
  if (node.kind() == c10::prim::Param) {
    const TorchNode* owner = node.owningBlock()->owningNode();
    return owner != nullptr && owner->kind() == c10::prim::Loop && index.offset() == 0;
  }
  if (same.count(kind) != 0) return is_never_negative(*node.input(0));
  return indices.count(kind) != 0 || (pairs.count(kind) != 0 && node.outputs().size() == 2 && index.offset() == 1);
}

Expression counted_from_front(const Expression& index, const Dim& size) {
  constexpr int kAddsIntegers = 4;                  // below this level ADD takes float32 only
  constexpr int64_t kMostExact = int64_t{1} << 24;  // whole numbers that a float32 holds
  OpContext& ctx = index.context();
  if (ctx.feature_level() < kAddsIntegers && size.fixed_value().value_or(0) > kMostExact) {
    ctx.warn(
        fmt::format("computed indices of an axis of {} have to be 0 or more: feature level {} has no exact form for "
                    "those below; use {}",
                    size.text(), ctx.feature_level(), option_for_level(kAddsIntegers)));
    return index;
  }
  const Expression count = size.is_fixed()
                               ? index.same(static_cast<double>(size.value()))
                               : Expression(ctx, {ctx.builder().int32_tensor({size}), {index.dtype(), {}, {}}});
  return select(compare(OperationCode::LESS, index, index.same(0)), index + count, index);
}

}  // namespace nnapi_convert
