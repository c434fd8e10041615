// SPDX-License-Identifier: BSD-3-Clause
// index_put: elements of a tensor replaced, or added to, at indices of some of its axes.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include "lib/ops/axis.h"
#include "lib/ops/families.h"
#include "lib/ops/formula.h"
#include "lib/ops/indices.h"
#include "lib/ops/movement.h"
#include "lib/ops/shape_rules.h"
#include "lib/ops/writing.h"

namespace nnapi_convert {
namespace {

bool is_all_constant(const OpArguments& args) {
  for (const AxisIndex& index : axis_indices(args)) {
    if (index.computed != nullptr) return false;
  }
  return true;
}

// Returns the computed mask of y[mask] = ...; null for other indices.
const TorchValue* computed_mask(const OpArguments& args) {
  const std::vector<AxisIndex> indices = axis_indices(args);
  const bool is_computed = indices.size() == 1 && indices[0].axis == 0 && indices[0].computed != nullptr;
  return is_computed && args.type_of(indices[0].computed).dtype == at::kBool ? indices[0].computed : nullptr;
}

// The type of a write under a mask, which covers the first axes; the same values replace all elements that it marks.
std::vector<ValueType> masked_type(const OpArguments& args, const TorchValue* mask) {
  const TensorType self = args.tensor("self"), values = args.tensor("values"), type = args.type_of(mask);
  args.require(type.rank() <= self.rank() && std::equal(type.dims.begin(), type.dims.end(), self.dims.begin()),
               "a mask " + to_text(type), "the sizes of " + to_text(self) + ", or of its first axes");
  const Dims rest(self.dims.begin() + static_cast<std::ptrdiff_t>(type.rank()), self.dims.end());
  const bool is_same_for_all = values.rank() <= rest.size() && broadcast(args, values.dims, rest) == rest;
  args.require((is_same_for_all || product(values.dims) == Dim(1)) && values.dtype == self.dtype,
               "values " + to_text(values),
               "one of the dtype of " + to_text(self) + ", or some for its axes behind the mask", "use torch.where");
  return {self};
}

void lower_masked(OpContext& ctx, const TorchValue* mask) {
  const Expression self = argument(ctx, "self");
  const Expression given(ctx, ctx.operand_of(mask));
  Dims dims = given.type().dims;
  dims.resize(self.type().rank(), Dim(1));
  const bool is_same = dims == given.type().dims && dims == self.type().dims;
  // NNAPI reshapes no bool.
  const Expression marked =
      is_same ? given : cast(expand(reshape(as_number(given), dims), self.type().dims), at::kBool);
  const Expression values = argument(ctx, "values");
  const Expression value = product(values.type().dims) == Dim(1) ? reshape(values, {Dim(1)}) : values;
  const Expression written = ctx.boolean("accumulate") ? self + value : expand(value, self.type().dims);
  select(marked, written, self).set_output();
}

// The indexed axes merged to one: its size, and the sizes of the index.
struct Merged {
  size_t first;
  Dims before, behind, index;
  int64_t size = 1;
};

Merged merged_axes(const OpArguments& args, const TensorType& self) {
  const std::vector<AxisIndex> indices = axis_indices(args);
  args.require(!indices.empty(), "no index", "one or more");
  Merged merged{indices[0].axis, {}, {}, {}};
  for (size_t i = 0; i < indices.size(); ++i) {
    const TensorType type = type_of(args, indices[i]);
    args.require(indices[i].axis == merged.first + i, "indices with axes between them", "indices side by side");
    args.require(indices[i].axis < self.rank(), "more indices than axes", "one for each axis at most");
    require_indices(args, type);
    args.require(all_fixed(type.dims), "indices of flexible sizes", "fixed sizes",
                 "give every size of the input with --input");
    merged.index = broadcast(args, merged.index, type.dims);
    merged.size *= self.dims[indices[i].axis].value();
  }
  const auto begin = self.dims.begin() + static_cast<std::ptrdiff_t>(merged.first);
  merged.before = Dims(self.dims.begin(), begin);
  merged.behind = Dims(begin + static_cast<std::ptrdiff_t>(indices.size()), self.dims.end());
  return merged;
}

Dims joined(const Dims& a, const Dims& b, const Dims& c) {
  Dims dims = a;
  dims.insert(dims.end(), b.begin(), b.end());
  dims.insert(dims.end(), c.begin(), c.end());
  return dims;
}

std::vector<ValueType> put_type(const OpArguments& args) {
  if (const TorchValue* mask = computed_mask(args)) return masked_type(args, mask);
  if (is_all_constant(args) && !args.boolean("accumulate")) return moved_type(args);
  const TensorType self = args.tensor("self"), values = args.tensor("values");
  require_written(args, self);
  require_written(args, values);
  args.require(values.dtype == self.dtype, "values " + to_text(values), "the dtype of " + to_text(self));
  const Merged merged = merged_axes(args, self);
  const Dims needed = joined(merged.before, merged.index, merged.behind);
  args.require(broadcast(args, values.dims, needed) == needed, "values " + to_text(values),
               "a tensor that broadcasts to " + to_text(needed));
  require_few_pairs(args, product(needed) * Dim(merged.size));
  return {self};
}

// Returns the places in the merged axis that the indices name, [1, count, 1].
Expression merged_index(OpContext& ctx, const TensorType& self, const Merged& merged) {
  Expression sum = filled(ctx, 0, {at::kFloat, merged.index, {}});
  for (const AxisIndex& index : axis_indices(ctx)) {
    const auto size = static_cast<double>(self.dims[index.axis].value());
    const Expression given = index.computed != nullptr
                                 ? cast(Expression(ctx, ctx.operand_of(index.computed)), at::kFloat)
                                 : tensor_constant(ctx, index.constant.to(at::kFloat));
    sum = sum * size + from_front(given, size);
  }
  return reshape(sum, {Dim(1), product(merged.index), Dim(1)});
}

void lower_put(OpContext& ctx) {
  if (const TorchValue* mask = computed_mask(ctx)) return lower_masked(ctx, mask);
  if (is_all_constant(ctx) && !ctx.boolean("accumulate")) return lower_moved(ctx);
  const Expression self = argument(ctx, "self");
  const Merged merged = merged_axes(ctx, self.type());
  const Dim before = product(merged.before), behind = product(merged.behind), size(merged.size);
  const Expression rows = as_rows(reshape(cast(self, at::kFloat), {before, size, behind}), 1);
  const Expression values =
      expand(argument_as(ctx, "values", at::kFloat), joined(merged.before, merged.index, merged.behind));
  const Expression source = as_rows(reshape(values, {before, product(merged.index), behind}), 1);
  const Expression is_there =
      compare(OperationCode::EQUAL, merged_index(ctx, self.type(), merged), positions(ctx, merged.size, 3));
  const Writing writing{rows, source, is_there};
  const Expression result =
      ctx.boolean("accumulate") ? rows + reduced_writes(writing, OperationCode::REDUCE_SUM, 0) : last_writes(writing);
  const TensorType around{at::kFloat, {before, size, behind}, {}};
  reshape(from_rows(result, around, 1), self.type().dims).set_output();
}

constexpr const char* kIndexPutNote =
    "indices side by side, or a computed mask of the first axes and one value; float32 or integers of fixed sizes; "
    "computed indices are compared with every place, at most 2^22 pairs";

}  // namespace

OpRules index_put_rules() {
  return {
      {"aten::index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor", 3,
       kIndexPutNote, put_type, lower_put, kUnprovedRows | Index::kPositions | ResultSizes::kLikeSelf},
      {"aten::_index_put_impl(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False, bool unsafe=False) "
       "-> "
       "Tensor",
       3, kIndexPutNote, put_type, lower_put, kUnprovedRows | Index::kPositions | ResultSizes::kLikeSelf},
      {"aten::index_put.hacked_twin(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False) -> Tensor", 3,
       kIndexPutNote, put_type, lower_put, kUnprovedRows | Index::kPositions | ResultSizes::kLikeSelf},
  };
}

}  // namespace nnapi_convert
