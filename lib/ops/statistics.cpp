// SPDX-License-Identifier: BSD-3-Clause
// Reductions composed of several operations: variances, norms, logsumexp, running sums.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "lib/ops/exponential.h"
#include "lib/ops/expression.h"
#include "lib/ops/families.h"
#include "lib/ops/integer_fold.h"
#include "lib/ops/promotion.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

constexpr int64_t kLongestSum = 2048;  // of cumsum: its constant has the square of this many elements

TensorType reduced_float(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_float(args, self);
  require_rank(args, self, 0, kHighestRank);
  return self.with_dims(without_axes(self.dims, reduced_axes(args, self), keeps_axes(args)));
}

void require_float_dtype(const OpArguments& args) {
  if (!args.has("dtype") || args.is_none("dtype")) return;
  const auto dtype = static_cast<at::ScalarType>(args.integer("dtype"));
  args.require(dtype == at::kFloat, "dtype = " + dtype_name(dtype), "None or float32");
}

std::vector<ValueType> reduced_type(const OpArguments& args) {
  require_float_dtype(args);
  return {reduced_float(args)};
}

std::vector<ValueType> statistics_pair_type(const OpArguments& args) {
  const TensorType type = reduced_float(args);
  return {type, type};
}

// Returns the number to subtract from the number of elements before dividing by it.
int64_t correction(const OpArguments& args) {
  if (args.has("unbiased")) return args.boolean("unbiased") ? 1 : 0;
  return args.is_none("correction") ? 1 : args.integer("correction");
}

// Returns the factor from the mean of squares to the variance.
double variance_factor(const OpArguments& args, const TensorType& self) {
  const int64_t taken = correction(args);
  if (taken == 0) return 1;
  Dim count(1);
  for (const int64_t axis : reduced_axes(args, self)) count *= self.dims[static_cast<size_t>(axis)];
  args.require(count.is_fixed(), "an unbiased variance of a flexible size", "a fixed size",
               "give every size of the input with --input");
  args.require(count.value() > taken, fmt::format("a variance of {} elements less {}", count.value(), taken),
               "more elements");
  const auto elements = static_cast<double>(count.value());
  return elements / (elements - static_cast<double>(taken));
}

// Sets the variance, or its root, and the mean if the operator returns it, too.
void lower_variance(OpContext& ctx, bool takes_root, bool gives_mean) {
  const Expression x = argument(ctx, "self");
  const std::vector<int64_t> axes = reduced_axes(ctx, x.type());
  const Expression mean = reduce(OperationCode::MEAN, x, axes, true);
  const Expression squares = reduce(OperationCode::MEAN, square(x - mean), axes, keeps_axes(ctx));
  const Expression variance = squares * variance_factor(ctx, x.type());
  (takes_root ? sqrt(variance) : variance).set_output();
  if (gives_mean) reshape(mean, ctx.output_type(1).dims).set_output(1);
}

void lower_var(OpContext& ctx) {
  lower_variance(ctx, false, false);
}

void lower_std(OpContext& ctx) {
  lower_variance(ctx, true, false);
}

void lower_var_mean(OpContext& ctx) {
  lower_variance(ctx, false, true);
}

void lower_std_mean(OpContext& ctx) {
  lower_variance(ctx, true, true);
}

// Computes the vector norm of order p. Division by it is not replaced by L2_NORMALIZATION, which has a least norm of
// its own: 1e-6 in NNAPI's reference, not specified otherwise. Shorter vectors would get another result.
Expression norm(const Expression& x, double p, const std::vector<int64_t>& axes, bool keeps) {
  const auto sum = [&](const Expression& terms) { return reduce(OperationCode::REDUCE_SUM, terms, axes, keeps); };
  if (p == 2) return sqrt(sum(square(x)));
  if (p == 1) return sum(abs(x));
  if (p == 0) return sum(cast(compare(OperationCode::NOT_EQUAL, x, x.same(0)), at::kFloat));
  if (std::isinf(p)) return reduce(p > 0 ? OperationCode::REDUCE_MAX : OperationCode::REDUCE_MIN, abs(x), axes, keeps);
  return pow(sum(pow(abs(x), x.same(p))), x.same(1 / p));
}

double order(const OpArguments& args) {
  const std::string name = args.has("p") ? "p" : "ord";
  return !args.has(name) || args.is_none(name) ? 2 : args.number(name);
}

void lower_norm(OpContext& ctx) {
  const Expression x = argument(ctx, "self");
  norm(x, order(ctx), reduced_axes(ctx, x.type()), keeps_axes(ctx)).set_output();
}

constexpr const char* kDecompositionNeeded = "eigenvalues or singular values";

// True for a norm of matrices over two axes, computed from sums along one and the extreme along the other.
bool is_of_matrices(const OpArguments& args) {
  const bool is_named = args.node().schema().overload_name() == "ord_str";
  return is_named || (!args.is_none("ord") && reduced_axes(args, args.tensor("self")).size() == 2);
}

bool is_frobenius(const OpArguments& args) {
  return args.node().schema().overload_name() == "ord_str" && args.string("ord") == "fro";
}

std::vector<ValueType> linalg_norm_type(const OpArguments& args) {
  const size_t axes = reduced_axes(args, args.tensor("self")).size();
  if (is_of_matrices(args) && !is_frobenius(args)) {
    const char* known = "fro, 1, -1, inf or -inf";
    if (args.node().schema().overload_name() == "ord_str") {
      args.refuse("ord = " + args.string("ord") + ", which takes " + kDecompositionNeeded, known);
    }
    const double order = args.number("ord");
    args.require(std::abs(order) == 1 || std::isinf(order),
                 fmt::format("ord = {} of matrices, which takes {}", order, kDecompositionNeeded), known);
    return reduced_type(args);
  }
  args.require(args.is_none("ord") || is_frobenius(args) || axes == 1, fmt::format("a norm over {} axes", axes),
               "one over 1 or 2 axes");
  return reduced_type(args);
}

// Computes a norm of matrices. Reads the axes in the given order, as they have different roles; reduced_axes() would
// sort them.
Expression matrix_norm(OpContext& ctx, const Expression& x) {
  std::vector<int64_t> axes = ctx.is_none("dim") ? std::vector<int64_t>{-2, -1} : ctx.integers("dim");
  for (int64_t& axis : axes) axis = checked_axis(ctx, axis, x.type().rank());
  const double order = ctx.number("ord");
  if (std::isinf(order)) std::swap(axes[0], axes[1]);
  const Expression sums = reduce(OperationCode::REDUCE_SUM, abs(x), {axes[0]}, true);
  const Expression extremes =
      reduce(order > 0 ? OperationCode::REDUCE_MAX : OperationCode::REDUCE_MIN, sums, {axes[1]}, true);
  return reshape(extremes, ctx.output_type().dims);
}

void lower_linalg_norm(OpContext& ctx) {
  const Expression x = argument(ctx, "self");
  if (is_of_matrices(ctx) && !is_frobenius(ctx)) return matrix_norm(ctx, x).set_output();
  norm(x, is_frobenius(ctx) ? 2 : order(ctx), reduced_axes(ctx, x.type()), keeps_axes(ctx)).set_output();
}

// logsumexp: subtracts the maximum, so that nothing overflows; a finite number in place of an infinite one, as inf -
// inf is NaN. The logarithm of a sum of only zeros stays minus infinity.
void lower_logsumexp(OpContext& ctx) {
  const Expression x = argument(ctx, "self");
  const std::vector<int64_t> axes = reduced_axes(ctx, x.type());
  const Expression largest = finite(reduce(OperationCode::REDUCE_MAX, x, axes, true));
  const Expression sum = reduce(OperationCode::REDUCE_SUM, exp(x - largest), axes, keeps_axes(ctx));
  const Expression rest = log(sum);
  infinite_or(rest, rest + reshape(largest, sum.type().dims)).set_output();
}

std::vector<ValueType> cumsum_type(const OpArguments& args) {
  TensorType self = args.tensor("self");
  at::ScalarType dtype = promoted_dtype(args, {"self"});
  if (dtype != at::kFloat) dtype = at::kLong;
  if (!args.is_none("dtype")) dtype = static_cast<at::ScalarType>(args.integer("dtype"));
  args.require(dtype == at::kFloat || dtype == at::kInt || dtype == at::kLong, "dtype = " + dtype_name(dtype),
               "float32, int32 or int64");
  require_rank(args, self, 1, kHighestRank);
  const Dim& size = self.dims[static_cast<size_t>(checked_axis(args, args.integer("dim"), self.rank()))];
  args.require(size.is_fixed() && size.value() <= kLongestSum, fmt::format("{} elements to sum", size.text()),
               fmt::format("a fixed number up to {}", kLongestSum));
  self.dtype = dtype;
  return {self};
}

// cumsum as a product with a triangle of ones, along the last axis.
void lower_cumsum(OpContext& ctx) {
  const Expression x = cast(reduced_numbers(ctx, false), at::kFloat);
  const auto axis = static_cast<size_t>(checked_axis(ctx, ctx.integer("dim"), x.type().rank()));
  std::vector<int64_t> last_first(x.type().rank());
  for (size_t i = 0; i < last_first.size(); ++i) last_first[i] = static_cast<int64_t>(i);
  std::swap(last_first[axis], last_first.back());
  const bool is_last = axis + 1 == x.type().rank();
  const Expression turned = is_last ? x : transpose(x, last_first);
  const int64_t size = turned.type().dims.back().value();
  const Dims rows(turned.type().dims.begin(), turned.type().dims.end() - 1);
  const Expression matrix = reshape(turned, {product(rows), Dim(size)});
  const nnapi::OperandId triangle = ctx.constant_operand(at::ones({size, size}).tril());
  const nnapi::OperandId bias = ctx.constant_operand(at::zeros({size}));
  const nnapi::OperandId none = ctx.builder().int32(static_cast<int64_t>(FuseCode::NONE));
  const Expression sums = matrix.then(OperationCode::FULLY_CONNECTED, {triangle, bias, none});
  const Expression result = reshape(sums, turned.type().dims);
  (is_last ? result : transpose(result, last_first)).set_output();
}

OpRule variance_rule(const char* schema, ShapeRule shape, LowerRule lower, int level) {
  return {schema, level, "float32; unbiased: a fixed number of elements", shape, lower, kUnprovedRows};
}

}  // namespace

OpRules statistics_rules() {
  const char* norm_note = "float32";
  return {
      variance_rule("aten::var(Tensor self, bool unbiased=True) -> Tensor", reduced_type, lower_var, 2),
      variance_rule("aten::var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
                    reduced_type, lower_var, 2),
      variance_rule("aten::var.correction(Tensor self, int[1]? dim, *, int? correction, bool keepdim=False) -> Tensor",
                    reduced_type, lower_var, 2),
      variance_rule("aten::std(Tensor self, bool unbiased=True) -> Tensor", reduced_type, lower_std, 3),
      variance_rule("aten::std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
                    reduced_type, lower_std, 3),
      variance_rule("aten::std.correction(Tensor self, int[1]? dim, *, int? correction, bool keepdim=False) -> Tensor",
                    reduced_type, lower_std, 3),
      variance_rule("aten::var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", statistics_pair_type,
                    lower_var_mean, 2),
      variance_rule("aten::var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, "
                    "Tensor)",
                    statistics_pair_type, lower_var_mean, 2),
      variance_rule("aten::var_mean.correction(Tensor self, int[1]? dim, *, int? correction, bool keepdim=False) -> "
                    "(Tensor, Tensor)",
                    statistics_pair_type, lower_var_mean, 2),
      variance_rule("aten::std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", statistics_pair_type,
                    lower_std_mean, 3),
      variance_rule("aten::std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, "
                    "Tensor)",
                    statistics_pair_type, lower_std_mean, 3),
      variance_rule("aten::std_mean.correction(Tensor self, int[1]? dim, *, int? correction, bool keepdim=False) -> "
                    "(Tensor, Tensor)",
                    statistics_pair_type, lower_std_mean, 3),
      {"aten::norm.Scalar(Tensor self, Scalar p=2) -> Tensor", 3, norm_note, reduced_type, lower_norm, kUnprovedRows},
      {"aten::norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor", 3, norm_note,
       reduced_type, lower_norm, kUnprovedRows},
      {"aten::norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) -> "
       "Tensor",
       3, norm_note, reduced_type, lower_norm, kUnprovedRows},
      {"aten::norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor", 3, norm_note, reduced_type,
       lower_norm, kUnprovedRows},
      {"aten::frobenius_norm(Tensor self) -> Tensor", 3, norm_note, reduced_type, lower_norm, kUnprovedRows},
      {"aten::frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", 3, norm_note, reduced_type,
       lower_norm, kUnprovedRows},
      {"aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
       "dtype=None) -> Tensor",
       3, norm_note, reduced_type, lower_norm, kUnprovedRows},
      {"aten::linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
       "dtype=None) -> Tensor",
       3, "float32; of vectors", linalg_norm_type, lower_linalg_norm, costing(Macs::kNotCounted)},
      {"aten::linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
       "dtype=None) -> Tensor",
       3, "float32; fro", linalg_norm_type, lower_linalg_norm, costing(Macs::kNotCounted)},
      {"aten::logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", 3, "float32", reduced_type,
       lower_logsumexp, kUnprovedRows},
      {"aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", 1,
       "by a constant triangle: at most 2048 elements, integers whose sums are known to be up to 2^24", cumsum_type,
       lower_cumsum, kUnprovedRows | Fact::kSizesAreSums | Fact::kKeepsRankAlongAxis},
  };
}

}  // namespace nnapi_convert
