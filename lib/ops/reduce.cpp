// SPDX-License-Identifier: BSD-3-Clause
// Reductions along axes: sums, means, extremes, any and all. NNAPI reduces float32 and bool, and some quint8; integers
// are reduced in float32 if it holds them, and are folded otherwise.
#include <fmt/format.h>

#include "lib/format/operation_table.h"
#include "lib/ops/expression.h"
#include "lib/ops/families.h"
#include "lib/ops/integer_fold.h"
#include "lib/ops/integer_moves.h"
#include "lib/ops/pooling.h"
#include "lib/ops/promotion.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

constexpr int kReduceLevel = 3;  // REDUCE_SUM; MEAN is there from 2

TensorType reduced(const OpArguments& args, const TensorType& self, at::ScalarType dtype) {
  require_rank(args, self, 0, kHighestRank);
  TensorType type = self.with_dims(without_axes(self.dims, reduced_axes(args, self), keeps_axes(args)));
  type.dtype = dtype;
  return type;
}

// The type of sums: the dtype argument, or the tensor's dtype; sums of integers and bool are int64.
std::vector<ValueType> sum_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  at::ScalarType dtype = promoted_dtype(args, {"self"});
  if (dtype != at::kFloat) dtype = at::kLong;
  if (!args.is_none("dtype")) dtype = static_cast<at::ScalarType>(args.integer("dtype"));
  args.require(dtype == at::kFloat || dtype == at::kInt || dtype == at::kLong, "dtype = " + dtype_name(dtype),
               "float32, int32 or int64");
  return {reduced(args, self, dtype)};
}

std::vector<ValueType> mean_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  at::ScalarType dtype = self.dtype;
  if (!args.is_none("dtype")) {
    dtype = static_cast<at::ScalarType>(args.integer("dtype"));
    args.require(dtype == at::kFloat || dtype == self.dtype, "dtype = " + dtype_name(dtype), "float32");
  }
  require_float_or_quantized(args, {dtype, self.dims, self.quantization});
  if (dtype != self.dtype) promoted_dtype(args, {"self"});
  return {reduced(args, self, dtype)};
}

std::vector<ValueType> reduced_extreme_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  args.require(self.dtype != at::kBool, "a tensor " + to_text(self), "numbers");
  if (!self.is_quantized()) promoted_dtype(args, {"self"});
  return {reduced(args, self, self.dtype)};
}

std::vector<ValueType> truth_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  promoted_dtype(args, {"self"});
  args.require(self.dtype != at::kByte, "a tensor " + to_text(self) + ", of which PyTorch gives uint8",
               "bool, or numbers", "use x.bool()");
  return {reduced(args, self, at::kBool)};
}

Expression reduce_argument(OpContext& ctx, OperationCode code, const Expression& x) {
  return reduce(code, x, reduced_axes(ctx, x.type()), keeps_axes(ctx));
}

// Folds integers that float32 would round; returns true if it did.
bool folded_integers(const Expression& x, OperationCode code) {
  constexpr int kExtremesLevel = 3, kCalculatesIntegers = 4;
  const bool is_extreme = has_trait(code, OperationTrait::kExtreme);
  OpContext& ctx = x.context();
  const std::vector<int64_t> axes = reduced_axes(ctx, x.type());
  if (ctx.output_type().dtype == at::kFloat || x.type().is_quantized() || !rounds_integers(code, x, axes)) return false;
  const bool is_fixed = all_fixed(x.type().dims);
  if (!is_extreme && is_fixed && ctx.feature_level() < kCalculatesIntegers) refuse_large_integers(ctx, "reduces");
  if (ctx.feature_level() < (is_extreme ? kExtremesLevel : kCalculatesIntegers)) return false;
  fold_integers(code, x, axes, keeps_axes(ctx)).set_output();
  return true;
}

// Lowers sum; at levels below REDUCE_SUM, to the mean times the number of elements.
void lower_sum(OpContext& ctx) {
  const Expression numbers = reduced_numbers(ctx, true);
  if (folded_integers(numbers, OperationCode::ADD)) return;
  const Expression x = cast(numbers, at::kFloat);
  if (ctx.can_use(OperationCode::REDUCE_SUM, kReduceLevel))
    return reduce_argument(ctx, OperationCode::REDUCE_SUM, x).set_output();
  Dim count(1);
  for (const int64_t axis : reduced_axes(ctx, x.type())) count *= x.type().dims[static_cast<size_t>(axis)];
  ctx.require(count.is_fixed(), "a sum of a flexible size without REDUCE_SUM", "a fixed size",
              "give every size of the input with --input");
  (reduce_argument(ctx, OperationCode::MEAN, x) * static_cast<double>(count.value())).set_output();
}

// Returns the operation on two integers that stands for a reduction of floats.
constexpr OperationCode fold_of(OperationCode code) {
  if (code == OperationCode::REDUCE_PROD) return OperationCode::MUL;
  return code == OperationCode::REDUCE_MAX ? OperationCode::MAXIMUM : OperationCode::MINIMUM;
}

template <OperationCode code>
void lower_reduction(OpContext& ctx) {
  const Expression numbers = reduced_numbers(ctx, true);
  if (code != OperationCode::MEAN && folded_integers(numbers, fold_of(code))) return;
  const Expression x = numbers.type().is_quantized() ? numbers : cast(numbers, at::kFloat);
  reduce_argument(ctx, code, x).set_output();
}

// Lowers mean. NNAPI's MEAN of quantised numbers cuts off the fraction, whereas PyTorch rounds.
void lower_mean(OpContext& ctx) {
  const Expression x = argument(ctx, "self");
  if (!x.type().is_quantized()) return lower_reduction<OperationCode::MEAN>(ctx);
  const bool is_of_image = x.type().rank() == 4 && reduced_axes(ctx, x.type()) == std::vector<int64_t>{2, 3};
  if (is_of_image) {
    const LoweredTensor average = quantized_image_average(ctx, ctx.operand("self"));
    return ctx.set_output(ctx.reshaped(average, ctx.output_type().dims));
  }
  reduce_argument(ctx, OperationCode::MEAN, dequantize(x)).set_output();
}

template <OperationCode code>
void lower_truth(OpContext& ctx) {
  reduce_argument(ctx, code, cast(argument(ctx, "self"), at::kBool)).set_output();
}

constexpr const char* kReduceNote = "integers as float32 where it holds them, else feature level 4 and fixed sizes";
constexpr const char* kQuantizedReduceNote = "float32 or quint8; quint8 but over height and width: feature level 3";

}  // namespace

OpRules reduce_rules() {
  return {
      {"aten::mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", 2, kQuantizedReduceNote, mean_type, lower_mean,
       row_wise(Rows::kOtherAxes) | Quantised::kKept},
      {"aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", 2,
       kQuantizedReduceNote, mean_type, lower_mean, row_wise(Rows::kOtherAxes) | Quantised::kKept},
      {"aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", 2, kReduceNote, sum_type, lower_sum,
       row_wise(Rows::kOtherAxes)},
      {"aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", 2,
       kReduceNote, sum_type, lower_sum, row_wise(Rows::kOtherAxes)},
      {"aten::prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", 3, kReduceNote, sum_type,
       lower_reduction<OperationCode::REDUCE_PROD>, kUnprovedRows},
      {"aten::prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", 3,
       kReduceNote, sum_type, lower_reduction<OperationCode::REDUCE_PROD>, kUnprovedRows},
      {"aten::amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", 3, kReduceNote, reduced_extreme_type,
       lower_reduction<OperationCode::REDUCE_MAX>, row_wise(Rows::kOtherAxes)},
      {"aten::amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", 3, kReduceNote, reduced_extreme_type,
       lower_reduction<OperationCode::REDUCE_MIN>, row_wise(Rows::kOtherAxes)},
      {"aten::max(Tensor self) -> Tensor", 3, kReduceNote, reduced_extreme_type,
       lower_reduction<OperationCode::REDUCE_MAX>, kUnprovedRows | Fact::kKeepsRankAlongAxis},
      {"aten::min(Tensor self) -> Tensor", 3, kReduceNote, reduced_extreme_type,
       lower_reduction<OperationCode::REDUCE_MIN>, kUnprovedRows | Fact::kKeepsRankAlongAxis},
      {"aten::any(Tensor self) -> Tensor", 3, "", truth_type, lower_truth<OperationCode::REDUCE_ANY>, kUnprovedRows},
      {"aten::any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", 3, "", truth_type,
       lower_truth<OperationCode::REDUCE_ANY>, kUnprovedRows},
      {"aten::all(Tensor self) -> Tensor", 3, "", truth_type, lower_truth<OperationCode::REDUCE_ALL>, kUnprovedRows},
      {"aten::all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", 3, "", truth_type,
       lower_truth<OperationCode::REDUCE_ALL>, kUnprovedRows},
  };
}

}  // namespace nnapi_convert
