// SPDX-License-Identifier: BSD-3-Clause
// Rules for cumulative products, extremes and logarithms of sums along an axis. They work by doubling: each step
// combines every element with the element that is 1, 2, 4... places before it.
#include <fmt/format.h>

#include "lib/ops/axis.h"
#include "lib/ops/exponential.h"
#include "lib/ops/families.h"
#include "lib/ops/formula.h"
#include "lib/ops/integer_fold.h"
#include "lib/ops/shape_rules.h"
#include "lib/ops/writing.h"

namespace nnapi_convert {
namespace {

constexpr int64_t kLongest = int64_t{1} << 16;  // 16 steps

using Combine = Expression (*)(const Expression& earlier, const Expression& later);

// Scans [before, size, behind] along its middle axis.
Expression scan(const Expression& x, Combine combine) {
  OpContext& ctx = x.context();
  const Dim size = x.type().dims[1];
  Expression result = x;
  for (int64_t shift = 1; shift < size.value(); shift *= 2) {
    const Expression begin = part(result, 1, Dim(0), Dim(shift));
    const Expression rest = combine(part(result, 1, Dim(0), size - Dim(shift)), part(result, 1, Dim(shift), size));
    result = begin.then(OperationCode::CONCATENATION, {rest.id(), ctx.builder().int32(1)}, x.type());
  }
  return result;
}

Expression multiply(const Expression& a, const Expression& b) {
  return a * b;
}

Expression larger(const Expression& a, const Expression& b) {
  return maximum(a, b);
}

Expression smaller(const Expression& a, const Expression& b) {
  return minimum(a, b);
}

// Computes log(exp(a) + exp(b)). Takes the larger one out of the sum, made finite, so that nothing overflows.
Expression log_of_sum(const Expression& a, const Expression& b) {
  const Expression most = maximum(a, b);
  return infinite_or(most, most + log(exp(minimum(a, b) - finite(most)) + 1));
}

TensorType scanned(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_rank(args, self, 0, kHighestRank);
  promoted_dtype(args, {"self"});
  const int64_t size = fixed_axis_size(args, self, axis_argument(args, self));
  args.require(size <= kLongest, fmt::format("{} elements along the axis", size), fmt::format("{} at most", kLongest));
  return self;
}

std::vector<ValueType> running_product_type(const OpArguments& args) {
  TensorType type = scanned(args);
  if (type.dtype != at::kFloat) type.dtype = at::kLong;
  if (!args.is_none("dtype")) type.dtype = static_cast<at::ScalarType>(args.integer("dtype"));
  args.require(type.dtype == at::kFloat || type.dtype == at::kInt || type.dtype == at::kLong,
               "dtype = " + dtype_name(type.dtype), "float32, int32 or int64");
  return {type};
}

Expression scanned_argument(OpContext& ctx) {
  return around_axis(argument_as(ctx, "self", at::kFloat), axis_argument(ctx, ctx.tensor("self")));
}

void lower_running_product(OpContext& ctx) {
  const Expression numbers = cast(reduced_numbers(ctx, false), at::kFloat);
  const Expression factors = around_axis(numbers, axis_argument(ctx, ctx.tensor("self")));
  reshape(scan(factors, multiply), ctx.output_type().dims).set_output();
}

std::vector<ValueType> logarithm_type(const OpArguments& args) {
  const TensorType self = scanned(args);
  require_float(args, self);
  return {self};
}

void lower_logarithm(OpContext& ctx) {
  reshape(scan(scanned_argument(ctx), log_of_sum), ctx.output_type().dims).set_output();
}

std::vector<ValueType> running_extreme_type(const OpArguments& args) {
  const TensorType self = scanned(args);
  args.require(self.dtype != at::kBool, "a tensor " + to_text(self), "numbers");
  return {self, TensorType{at::kLong, self.dims, {}}};
}

// The index of a running extreme is the last one so far at which the element itself was the extreme.
template <Combine combine>
void lower_running_extreme(OpContext& ctx) {
  const Expression x = scanned_argument(ctx);
  const Expression extremes = scan(x, combine);
  const Expression places = reshape(positions(ctx, x.type().dims[1].value(), 1), {Dim(1), x.type().dims[1], Dim(1)});
  const Expression is_extreme = compare(OperationCode::EQUAL, x, extremes);
  const Expression marked = choose(is_extreme, expand(places, x.type().dims), 0);
  reshape(extremes, ctx.output_type(0).dims).set_output(0);
  reshape(scan(marked, larger), ctx.output_type(1).dims).set_output(1);
}

Expression add(const Expression& a, const Expression& b) {
  return a + b;
}

std::vector<ValueType> masked_scatter_type(const OpArguments& args) {
  const TensorType self = args.tensor("self"), mask = args.tensor("mask"), source = args.tensor("source");
  require_written(args, self);
  require_written(args, source);
  args.require(mask.dtype == at::kBool, "a mask " + to_text(mask), "bool");
  args.require(source.dtype == self.dtype, "a source " + to_text(source), "the dtype of " + to_text(self));
  const Dims dims = broadcast(args, self.dims, mask.dims);
  args.require(all_fixed(dims), "flexible sizes", "fixed sizes", "give every size of the input with --input");
  const int64_t count = product(dims).value();
  args.require(count <= kLongest, fmt::format("{} elements", count), fmt::format("{} at most", kLongest));
  return {self.with_dims(dims)};
}

// Each marked element takes the next element of the source: its place there is the number of marked elements before it.
void lower_masked_scatter(OpContext& ctx) {
  const Dims dims = ctx.output_type().dims;
  const Dim count = product(dims);
  const Expression marked = expand(argument_as(ctx, "mask", at::kFloat), dims);
  const Expression places = scan(reshape(marked, {Dim(1), count, Dim(1)}), add) - 1;
  const Expression source = argument_as(ctx, "source", at::kFloat);
  const Dim size = product(source.type().dims);
  const double last = static_cast<double>(size.value()) - 1;
  const Expression indices = cast(reshape(minimum(maximum(places, 0.0), last), {count}), at::kInt);
  const Expression picked =
      reshape(source, {size})
          .then(OperationCode::GATHER, {ctx.builder().int32(0), indices.id()}, source.type().with_dims({count}));
  const Expression self = expand(argument_as(ctx, "self", at::kFloat), dims);
  select(cast(marked, at::kBool), reshape(picked, dims), self).set_output();
}

constexpr const char* kCumulativeNote =
    "an axis of up to 65536, in steps that double; integers: those known to be up to 2^24";

}  // namespace

OpRules cumulative_rules() {
  return {
      {"aten::cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", 2, kCumulativeNote,
       running_product_type, lower_running_product, kUnprovedRows | Fact::kSizesAreSums | Fact::kKeepsRankAlongAxis},
      {"aten::logcumsumexp(Tensor self, int dim) -> Tensor", 3, "float32; an axis of up to 65536", logarithm_type,
       lower_logarithm, kUnprovedRows | Fact::kKeepsRankAlongAxis},
      {"aten::cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)", 3, kCumulativeNote,
       running_extreme_type, lower_running_extreme<larger>,
       kUnprovedRows | Fact::kSizesAreSums | Fact::kKeepsRankAlongAxis},
      {"aten::cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)", 3, kCumulativeNote,
       running_extreme_type, lower_running_extreme<smaller>,
       kUnprovedRows | Fact::kSizesAreSums | Fact::kKeepsRankAlongAxis},
      {"aten::masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor", 3,
       "up to 65536 elements; integers: those known to be up to 2^24", masked_scatter_type, lower_masked_scatter,
       kUnprovedRows | Fact::kReadsMaskBytes},
  };
}

}  // namespace nnapi_convert
