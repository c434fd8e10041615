// SPDX-License-Identifier: BSD-3-Clause
// Rules for extremes and sorting: argmax, max along an axis, topk, sort.
#include <fmt/format.h>

#include "lib/ops/axis.h"
#include "lib/ops/expression.h"
#include "lib/ops/families.h"
#include "lib/ops/integer_fold.h"
#include "lib/ops/promotion.h"
#include "lib/ops/shape_rules.h"
#include "lib/ops/sorting.h"

namespace nnapi_convert {
namespace {

TensorType sortable(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_rank(args, self, 0, kHighestRank);
  args.require(self.dtype != at::kBool, "a tensor " + to_text(self), "numbers");
  if (!self.is_quantized()) promoted_dtype(args, {"self"});
  return self;
}

TensorType order_indices_type(const TensorType& values) {
  return {at::kLong, values.dims, {}};
}

std::vector<ValueType> order_index_type(const OpArguments& args) {
  const TensorType self = sortable(args);
  args.require(!self.is_quantized(), "a tensor " + to_text(self), "float32, int32 or int64");
  return {order_indices_type(self.with_dims(without_axes(self.dims, reduced_axes(args, self), keeps_axes(args))))};
}

std::vector<ValueType> extreme_type(const OpArguments& args) {
  const TensorType self = sortable(args);
  const TensorType values = self.with_dims(without_axes(self.dims, reduced_axes(args, self), keeps_axes(args)));
  return {values, order_indices_type(values)};
}

// Returns the index of an extreme along an axis, which stays with size 1 or is removed. Below feature level 6 NNAPI
// reshapes no int32.
Expression extreme_index(OperationCode code, const Expression& x, int64_t axis, bool keeps) {
  nnapi::Builder& builder = x.context().builder();
  const TensorType type = order_indices_type(x.type().with_dims(without_axes(x.type().dims, {axis}, false)));
  const Expression index = x.then(code, {builder.int32(axis)}, type);
  const TensorType kept = type.with_dims(without_axes(x.type().dims, {axis}, true));
  if (!keeps || kept.dims.size() == 1) return keeps ? reshape(index, kept.dims) : index;
  return index.then(OperationCode::EXPAND_DIMS, {builder.int32(axis)}, kept);
}

// argmax and argmin; without an axis they give the index into the tensor as a vector.
template <OperationCode code>
void lower_order_index(OpContext& ctx) {
  const Expression x = argument(ctx, "self");
  if (x.type().rank() == 0) return filled(ctx, 0, ctx.output_type()).set_output();
  if (!ctx.is_none("dim")) {
    return extreme_index(code, x, reduced_axes(ctx, x.type())[0], keeps_axes(ctx)).set_output();
  }
  const Expression index = extreme_index(code, reshape(x, {product(x.type().dims)}), 0, false);
  if (!keeps_axes(ctx)) return index.set_output();
  reshape(cast(index, at::kFloat), ctx.output_type().dims).set_output();
}

template <OperationCode reduce_code, OperationCode index_code>
void lower_extreme(OpContext& ctx) {
  const Expression self = argument(ctx, "self");
  if (self.type().rank() == 0) {
    self.set_output(0);
    return filled(ctx, 0, ctx.output_type(1)).set_output(1);
  }
  const int64_t axis = reduced_axes(ctx, self.type())[0];
  constexpr OperationCode fold_code =
      reduce_code == OperationCode::REDUCE_MAX ? OperationCode::MAXIMUM : OperationCode::MINIMUM;
  if (!self.type().is_quantized() && rounds_integers(fold_code, self, {axis})) {
    fold_integers(fold_code, self, {axis}, keeps_axes(ctx)).set_output(0);
  } else {
    const Expression x = self.type().is_quantized() ? self : cast(self, at::kFloat);
    reduce(reduce_code, x, {axis}, keeps_axes(ctx)).set_output(0);
  }
  extreme_index(index_code, self, axis, keeps_axes(ctx)).set_output(1);
}

std::vector<ValueType> topk_type(const OpArguments& args) {
  TensorType values = sortable(args);
  const size_t axis = axis_argument(args, values);
  const Dim size = values.rank() == 0 ? Dim(1) : values.dims[axis];
  const int64_t k = args.integer("k");
  args.require(k >= 1 && (!size.is_fixed() || k <= size.value()), fmt::format("k = {} of {}", k, size.text()),
               "1 up to the size");
  if (values.rank() > 0) values.dims[axis] = Dim(k);
  return {values, order_indices_type(values)};
}

std::vector<ValueType> sort_type(const OpArguments& args) {
  const TensorType values = sortable(args);
  (void)fixed_axis_size(args, values, axis_argument(args, values));
  return {values, order_indices_type(values)};
}

std::vector<ValueType> argsort_type(const OpArguments& args) {
  return {std::get<TensorType>(sort_type(args)[1])};
}

Sorted first_k(OpContext& ctx, int64_t k, bool largest) {
  const Expression x = argument(ctx, "self");
  return first_in_order(x, axis_argument(ctx, x.type()), k, largest);
}

void lower_topk(OpContext& ctx) {
  const Sorted found = first_k(ctx, ctx.integer("k"), ctx.boolean("largest"));
  found.values.set_output(0);
  found.indices.set_output(1);
}

Sorted sort_all(OpContext& ctx) {
  const TensorType self = ctx.tensor("self");
  return first_k(ctx, fixed_axis_size(ctx, self, axis_argument(ctx, self)), ctx.boolean("descending"));
}

void lower_sort(OpContext& ctx) {
  const Sorted found = sort_all(ctx);
  found.values.set_output(0);
  found.indices.set_output(1);
}

void lower_argsort(OpContext& ctx) {
  sort_all(ctx).indices.set_output();
}

constexpr LowerRule kMax = lower_extreme<OperationCode::REDUCE_MAX, OperationCode::ARGMAX>;
constexpr LowerRule kMin = lower_extreme<OperationCode::REDUCE_MIN, OperationCode::ARGMIN>;

}  // namespace

OpRules order_rules() {
  return {
      {"aten::argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", 3, "", order_index_type,
       lower_order_index<OperationCode::ARGMAX>, row_wise(Rows::kOtherAxes) | Fact::kKeepsRankAlongAxis},
      {"aten::argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", 3, "", order_index_type,
       lower_order_index<OperationCode::ARGMIN>, row_wise(Rows::kOtherAxes) | Fact::kKeepsRankAlongAxis},
      {"aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", 3,
       "integers as float32 where it holds them, else feature level 4 and fixed sizes", extreme_type, kMax,
       kUnprovedRows | Fact::kKeepsRankAlongAxis},
      {"aten::min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", 3,
       "integers as float32 where it holds them, else feature level 4 and fixed sizes", extreme_type, kMin,
       kUnprovedRows | Fact::kKeepsRankAlongAxis},
      {"aten::topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor "
       "indices)",
       3, "quint8: the greatest", topk_type, lower_topk,
       kUnprovedRows | ResultSizes::kHighest | Fact::kKeepsRankAlongAxis},
      {"aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)", 3,
       "a fixed size; quint8: descending", sort_type, lower_sort,
       kUnprovedRows | Quantised::kKept | Fact::kSizesAreSums | Fact::kKeepsRankAlongAxis},
      {"aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor "
       "indices)",
       3, "a fixed size; quint8: descending", sort_type, lower_sort,
       kUnprovedRows | Quantised::kKept | Fact::kSizesAreSums | Fact::kKeepsRankAlongAxis},
      {"aten::argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor", 3,
       "a fixed size", argsort_type, lower_argsort, kUnprovedRows | Fact::kSizesAreSums | Fact::kKeepsRankAlongAxis},
      {"aten::argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor", 3, "a fixed size", argsort_type,
       lower_argsort, kUnprovedRows | Fact::kSizesAreSums | Fact::kKeepsRankAlongAxis},
  };
}

}  // namespace nnapi_convert
