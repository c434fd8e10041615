// Where the extremes are, and the first of an order: argmax, max along an axis, topk, sort.
#include <fmt/format.h>

#include <algorithm>

#include "lib/ops/expression.h"
#include "lib/ops/families.h"
#include "lib/ops/promotion.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

TensorType sortable(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_rank(args, self, 1, kHighestRank);
  args.require(self.dtype != at::kBool, "a tensor " + to_text(self), "numbers");
  if (!self.is_quantized()) promoted_dtype(args, {"self"});
  return self;
}

TensorType indices_of(const TensorType& values) {
  return {at::kLong, values.dims, {}};
}

std::vector<ValueType> index_type(const OpArguments& args) {
  const TensorType self = sortable(args);
  args.require(!self.is_quantized(), "a tensor " + to_text(self), "float32, int32 or int64");
  return {indices_of(self.with_dims(without_axes(self.dims, reduced_axes(args, self), keeps_axes(args))))};
}

std::vector<ValueType> extreme_type(const OpArguments& args) {
  const TensorType self = sortable(args);
  const TensorType values = self.with_dims(without_axes(self.dims, reduced_axes(args, self), keeps_axes(args)));
  return {values, indices_of(values)};
}

// The index along an axis, which stays with size 1 or goes. NNAPI reshapes no int32 below feature level 6.
Expression extreme_index(OperationCode code, const Expression& x, int64_t axis, bool keeps) {
  nnapi::Builder& builder = x.context().builder();
  const TensorType type = indices_of(x.type().with_dims(without_axes(x.type().dims, {axis}, false)));
  const Expression index = x.then(code, {builder.int32(axis)}, type);
  const TensorType kept = type.with_dims(without_axes(x.type().dims, {axis}, true));
  if (!keeps || kept.dims.size() == 1) return keeps ? reshape(index, kept.dims) : index;
  return index.then(OperationCode::EXPAND_DIMS, {builder.int32(axis)}, kept);
}

// Without an axis, the index into the tensor as a vector.
template <OperationCode code>
void lower_index(OpContext& ctx) {
  const Expression x = argument(ctx, "self");
  if (!ctx.is_none("dim")) {
    return extreme_index(code, x, reduced_axes(ctx, x.type())[0], keeps_axes(ctx)).set_output();
  }
  const Expression index = extreme_index(code, reshape(x, {product(x.type().dims)}), 0, false);
  ctx.require(!keeps_axes(ctx) || x.type().rank() == 1, "keepdim = True without an axis", "an axis");
  index.set_output();
}

template <OperationCode reduce_code, OperationCode index_code>
void lower_extreme(OpContext& ctx) {
  const Expression self = argument(ctx, "self");
  const int64_t axis = reduced_axes(ctx, self.type())[0];
  const Expression x = self.type().is_quantized() ? self : cast(self, at::kFloat);
  reduce(reduce_code, x, {axis}, keeps_axes(ctx)).set_output(0);
  extreme_index(index_code, self, axis, keeps_axes(ctx)).set_output(1);
}

int64_t sorted_axis(const OpArguments& args, const TensorType& self) {
  return checked_axis(args, args.integer("dim"), self.rank());
}

std::vector<ValueType> topk_type(const OpArguments& args) {
  TensorType values = sortable(args);
  Dim& size = values.dims[static_cast<size_t>(sorted_axis(args, values))];
  const int64_t k = args.integer("k");
  args.require(k >= 1 && (!size.is_fixed() || k <= size.value()), fmt::format("k = {} of {}", k, size.text()),
               "1 up to the size");
  size = Dim(k);
  return {values, indices_of(values)};
}

std::vector<ValueType> sort_type(const OpArguments& args) {
  const TensorType values = sortable(args);
  const Dim& size = values.dims[static_cast<size_t>(sorted_axis(args, values))];
  args.require(size.is_fixed(), "a flexible size to sort", "a fixed size", "give every size of the input with --input");
  return {values, indices_of(values)};
}

std::vector<ValueType> argsort_type(const OpArguments& args) {
  return {std::get<TensorType>(sort_type(args)[1])};
}

struct Sorted {
  Expression values, indices;
};

// TOPK_V2 along the last axis.
Sorted topk_of_last(const Expression& x, int64_t k) {
  OpContext& ctx = x.context();
  TensorType values = x.type();
  values.dims.back() = Dim(k);
  const TensorType indices = indices_of(values);
  const std::vector<nnapi::OperandId> ids =
      ctx.builder().add(OperationCode::TOPK_V2, {x.id(), ctx.builder().int32(k)},
                        std::vector<nnapi::Operand>{to_operand(values), to_operand(indices)});
  return {{ctx, {ids[0], values}}, {ctx, {ids[1], indices}}};
}

// NNAPI transposes no int32: integers go as float32, which holds indices.
Expression transpose_any(const Expression& x, const std::vector<int64_t>& order) {
  if (x.is_float() || x.type().is_quantized()) return transpose(x, order);
  return cast(transpose(cast(x, at::kFloat), order), x.dtype());
}

Sorted topk_along(const Expression& x, int64_t axis, int64_t k) {
  const auto last = static_cast<int64_t>(x.type().rank()) - 1;
  if (axis == last) return topk_of_last(x, k);
  std::vector<int64_t> order(x.type().rank());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::swap(order[static_cast<size_t>(axis)], order.back());
  const Expression turned = transpose_any(x, order);
  const Sorted found = topk_of_last(turned, k);
  return {transpose_any(found.values, order), transpose_any(found.indices, order)};
}

// The least ones are the greatest of the negatives.
Sorted first_k(OpContext& ctx, int64_t k, bool largest) {
  const Expression x = argument(ctx, "self");
  const int64_t axis = sorted_axis(ctx, x.type());
  if (largest) return topk_along(x, axis, k);
  ctx.require(!x.type().is_quantized(), "the least of a quantised tensor", "the greatest",
              "use dequantize() before it");
  const Sorted found = topk_along(-x, axis, k);
  return {-found.values, found.indices};
}

void lower_topk(OpContext& ctx) {
  const Sorted found = first_k(ctx, ctx.integer("k"), ctx.boolean("largest"));
  found.values.set_output(0);
  found.indices.set_output(1);
}

Sorted sort_all(OpContext& ctx) {
  const TensorType self = ctx.tensor("self");
  const Dim& size = self.dims[static_cast<size_t>(sorted_axis(ctx, self))];
  return first_k(ctx, size.value(), ctx.boolean("descending"));
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
      {"aten::argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", 3, "", index_type,
       lower_index<OperationCode::ARGMAX>},
      {"aten::argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", 3, "", index_type,
       lower_index<OperationCode::ARGMIN>},
      {"aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", 3,
       "integers as float32, up to 2^24", extreme_type, kMax},
      {"aten::min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", 3,
       "integers as float32, up to 2^24", extreme_type, kMin},
      {"aten::topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor "
       "indices)",
       3, "quint8: the greatest", topk_type, lower_topk},
      {"aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)", 3,
       "a fixed size; quint8: descending", sort_type, lower_sort},
      {"aten::argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor", 3, "a fixed size", argsort_type,
       lower_argsort},
  };
}

}  // namespace nnapi_convert
