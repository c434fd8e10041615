// SPDX-License-Identifier: BSD-3-Clause
// Softmax. NNAPI's takes an axis from feature level 3; before, it works along the last axis of a matrix.
#include <fmt/format.h>

#include <algorithm>

#include "lib/ops/expression.h"
#include "lib/ops/families.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

constexpr int kAxisLevel = 3;

// Refuses a dtype argument other than float32, which the result has anyway.
void require_float_result(const OpArguments& args) {
  if (!args.has("dtype") || args.is_none("dtype")) return;
  const auto dtype = static_cast<at::ScalarType>(args.integer("dtype"));
  args.require(dtype == at::kFloat, "dtype = " + dtype_name(dtype), "None or float32");
}

std::vector<ValueType> softmax_type(const OpArguments& args) {
  const TensorType type = args.tensor("self");
  require_rank(args, type, 1, kHighestRank);
  require_float_result(args);
  checked_axis(args, args.integer("dim"), type.rank());
  const bool is_cast = !args.is_none("dtype") && (type.dtype == at::kInt || type.dtype == at::kLong);
  if (!is_cast) require_float(args, type);
  return {TensorType{at::kFloat, type.dims, {}}};
}

// Returns the order of axes with `axis` moved to the end.
std::vector<int64_t> axis_last(size_t rank, int64_t axis) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < static_cast<int64_t>(rank); ++i) {
    if (i != axis) order.push_back(i);
  }
  order.push_back(axis);
  return order;
}

// Computes softmax along the last axis, as rows of a matrix.
Expression softmax_of_rows(const Expression& x, const TensorType& matrix_type) {
  const nnapi::OperandId beta = x.context().builder().float32(1.0f);
  const Dims rows(x.type().dims.begin(), x.type().dims.end() - 1);
  const Expression matrix = reshape(x, {product(rows), x.type().dims.back()});
  return reshape(matrix.then(OperationCode::SOFTMAX, {beta}, matrix_type.with_dims(matrix.type().dims)), x.type().dims);
}

// True if all axes behind `axis` have size 1.
bool is_last_of_size(const Dims& dims, int64_t axis) {
  return std::all_of(dims.begin() + axis + 1, dims.end(), [](const Dim& dim) { return dim == Dim(1); });
}

Expression softmax_before_axes(const Expression& x, int64_t axis, const TensorType& output) {
  const Dims dims = x.type().dims;
  if (is_last_of_size(dims, axis)) {
    const Expression shortened = reshape(x, Dims(dims.begin(), dims.begin() + axis + 1));
    return reshape(softmax_of_rows(shortened, output), dims);
  }
  const std::vector<int64_t> order = axis_last(dims.size(), axis);
  return transpose(softmax_of_rows(transpose(x, order), output), nnapi::inverse(order));
}

void lower_softmax(OpContext& ctx) {
  const TensorType output = ctx.output_type();
  const Expression self = argument(ctx, tensor_name(ctx));
  const Expression x = self.type().is_quantized() ? self : cast(self, at::kFloat);
  const int64_t axis = checked_axis(ctx, ctx.integer("dim"), output.rank());
  if (ctx.feature_level() < kAxisLevel) return softmax_before_axes(x, axis, output).set_output();
  const nnapi::OperandId beta = ctx.builder().float32(1.0f);
  if (output.rank() == 2 && axis == 1) return x.then(OperationCode::SOFTMAX, {beta}, output).set_output();
  x.then(OperationCode::SOFTMAX, {beta, ctx.builder().int32(axis)}, output).set_output();
}

// Quantised softmax: PyTorch has the model's scale and zero point, NNAPI 1/256 and 0.
void lower_quantized_softmax(OpContext& ctx) {
  const TensorType output = ctx.output_type();
  if (output.quantization == Quantization{1.0 / 256, 0}) return lower_softmax(ctx);
  const Expression x = dequantize(argument(ctx, "qx"));
  const int64_t axis = checked_axis(ctx, ctx.integer("dim"), output.rank());
  x.then(OperationCode::SOFTMAX, {ctx.builder().float32(1.0f), ctx.builder().int32(axis)}).set_output();
}

void lower_log_softmax(OpContext& ctx) {
  const Expression x = cast(argument(ctx, "self"), at::kFloat);
  const int64_t axis = checked_axis(ctx, ctx.integer("dim"), x.type().rank());
  x.then(OperationCode::LOG_SOFTMAX, {ctx.builder().float32(1.0f), ctx.builder().int32(axis)}).set_output();
}

}  // namespace

OpRules softmax_rules() {
  return {
      {"aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", 1,
       "float32; feature level 1: the last dimension, 2: others by TRANSPOSE", softmax_type, lower_softmax,
       row_wise(Rows::kOtherAxes) | Memory::kFresh | Fact::kKeepsRankAlongAxis},
      {"quantized::softmax(Tensor qx, int dim, float output_scale, int output_zero_point) -> Tensor", 1,
       "quint8; scales other than (1/256, 0): feature level 3", given_quantization, lower_quantized_softmax,
       kUnprovedRows},
      {"aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", 3, "float32", softmax_type,
       lower_log_softmax, row_wise(Rows::kOtherAxes) | Memory::kFresh | Fact::kKeepsRankAlongAxis},
  };
}

}  // namespace nnapi_convert
