// SPDX-License-Identifier: BSD-3-Clause
// Products and distances of vectors: cdist, pdist, cross, vdot, addr, renorm.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "lib/ops/axis.h"
#include "lib/ops/families.h"
#include "lib/ops/formula.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

// Returns the norm of order p along the last axis, which is removed.
Expression norm_of_last(const Expression& x, double p) {
  const std::vector<int64_t> axes{static_cast<int64_t>(x.type().rank()) - 1};
  const auto sum = [&](const Expression& terms) { return reduce(OperationCode::REDUCE_SUM, terms, axes, false); };
  if (p == 0) return sum(as_number(compare(OperationCode::NOT_EQUAL, x, x.same(0))));
  if (p == 1) return sum(abs(x));
  if (p == 2) return sqrt(sum(square(x)));
  if (std::isinf(p)) return reduce(OperationCode::REDUCE_MAX, abs(x), axes, false);
  return pow(sum(pow(abs(x), x.same(p))), x.same(1 / p));
}

Dims leading(const Dims& dims) {
  return Dims(dims.begin(), dims.end() - 2);
}

// The type of cdist for x1 [..., rows, size] and x2 [..., columns, size].
std::vector<ValueType> cdist_type(const OpArguments& args) {
  const TensorType x1 = args.tensor("x1"), x2 = args.tensor("x2");
  for (const TensorType& x : {x1, x2}) {
    require_float(args, x);
    require_rank(args, x, 2, kHighestRank);
    args.require(all_fixed(x.dims), "flexible sizes", "fixed sizes", "give every size of the input with --input");
  }
  args.require(x1.dims.back() == x2.dims.back(), "vectors of " + to_text(x1) + " and " + to_text(x2), "one size");
  Dims dims = broadcast(args, leading(x1.dims), leading(x2.dims));
  const Dim size = x1.dims.back();
  dims.insert(dims.end(), {x1.dims.end()[-2], x2.dims.end()[-2]});
  require_few_pairs(args, product(dims) * size);
  return {x1.with_dims(dims)};
}

// Returns x as [batch, rows, size], with the batch of the result.
Expression with_batch(const Expression& x, const Dims& batch) {
  Dims dims = batch;
  dims.insert(dims.end(), x.type().dims.end() - 2, x.type().dims.end());
  const Dims own = leading(x.type().dims);
  const Dim rows = x.type().dims.end()[-2], size = x.type().dims.back();
  if (product(own) == product(batch)) return reshape(x, {product(batch), rows, size});
  if (product(own) == Dim(1)) return reshape(x, {Dim(1), rows, size});
  return reshape(expand(x, dims), {product(batch), rows, size});
}

void lower_cdist(OpContext& ctx) {
  const Expression x1 = argument(ctx, "x1"), x2 = argument(ctx, "x2");
  const Dims dims = ctx.output_type().dims, batch = leading(dims);
  const Expression a = with_batch(x1, batch), b = with_batch(x2, batch);
  const Dims left = a.type().dims, right = b.type().dims;
  const Expression difference =
      reshape(a, {left[0], left[1], Dim(1), left[2]}) - reshape(b, {right[0], Dim(1), right[1], right[2]});
  reshape(norm_of_last(difference, ctx.number("p")), dims).set_output();
}

// The type of pdist: the distance of each pair of rows, each pair once.
std::vector<ValueType> pdist_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_float(args, self);
  require_rank(args, self, 2, 2);
  args.require(all_fixed(self.dims), "flexible sizes", "fixed sizes", "give every size of the input with --input");
  const int64_t rows = self.dims[0].value(), pairs = rows * (rows - 1) / 2;
  args.require(pairs > 0, fmt::format("{} rows", rows), "2 or more");
  require_few_pairs(args, Dim(pairs) * self.dims[1]);
  return {self.with_dims({Dim(pairs)})};
}

void lower_pdist(OpContext& ctx) {
  const Expression x = argument(ctx, "self");
  const int64_t rows = x.type().dims[0].value();
  const at::Tensor pairs = at::triu_indices(rows, rows, 1);
  const auto picked = [&](int64_t which) {
    const at::Tensor indices = pairs.select(0, which).contiguous();
    return x.then(OperationCode::GATHER, {ctx.builder().int32(0), ctx.constant_operand(indices)},
                  x.type().with_dims({Dim(indices.numel()), x.type().dims[1]}));
  };
  norm_of_last(picked(0) - picked(1), ctx.number("p")).set_output();
}

std::vector<ValueType> cross_type(const OpArguments& args) {
  const TensorType type = promoted_type(args, {"self", "other"});
  args.require(type.dtype != at::kBool, "bool tensors", "numbers");
  const auto axis = static_cast<size_t>(checked_axis(args, args.integer("dim"), type.rank()));
  args.require(type.dims[axis] == Dim(3), "a size " + type.dims[axis].text(), "3");
  return {type};
}

void lower_cross(OpContext& ctx) {
  const TensorType type = ctx.output_type();
  const int64_t axis = checked_axis(ctx, ctx.integer("dim"), type.rank());
  const auto turned = [&](const char* name, const std::vector<int64_t>& order) {
    const Expression x = expand(argument_as(ctx, name, at::kFloat), type.dims);
    return x.then(OperationCode::GATHER, {ctx.builder().int32(axis), ctx.builder().int32_tensor(to_dims(order))});
  };
  const std::vector<int64_t> next{1, 2, 0}, last{2, 0, 1};
  (turned("self", next) * turned("other", last) - turned("self", last) * turned("other", next)).set_output();
}

std::vector<ValueType> vdot_type(const OpArguments& args) {
  require_float(args, args.tensor("self"));
  require_float(args, args.tensor("other"));
  return {args.tensor("self").with_dims({})};
}

void lower_vdot(OpContext& ctx) {
  reduce(OperationCode::REDUCE_SUM, argument(ctx, "self") * argument(ctx, "other"), {0}, false).set_output();
}

std::vector<ValueType> addr_type(const OpArguments& args) {
  const TensorType self = args.tensor("self"), rows = args.tensor("vec1"), columns = args.tensor("vec2");
  for (const TensorType& type : {self, rows, columns}) require_float(args, type);
  require_rank(args, rows, 1, 1);
  require_rank(args, columns, 1, 1);
  const Dims dims{rows.dims[0], columns.dims[0]};
  args.require(broadcast(args, self.dims, dims) == dims, "an added tensor " + to_text(self),
               "one that broadcasts to " + to_text(dims));
  return {self.with_dims(dims)};
}

void lower_addr(OpContext& ctx) {
  const Expression rows = argument(ctx, "vec1"), columns = argument(ctx, "vec2");
  const Expression product = reshape(rows * ctx.number("alpha"), {rows.type().dims[0], Dim(1)}) *
                             reshape(columns, {Dim(1), columns.type().dims[0]});
  if (ctx.number("beta") == 0) return product.set_output();
  (product + argument(ctx, "self") * ctx.number("beta")).set_output();
}

std::vector<ValueType> renorm_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_float(args, self);
  require_rank(args, self, 2, kHighestRank);
  args.require(args.number("p") > 0, fmt::format("p={}", args.number("p")), "more than 0");
  (void)axis_argument(args, self);
  return {self};
}

// renorm: scales each slice along the axis down to the given norm, if its norm is larger.
void lower_renorm(OpContext& ctx) {
  constexpr double kMargin = 1e-7;  // PyTorch's
  const Expression self = argument(ctx, "self");
  const size_t axis = axis_argument(ctx, self.type());
  const double most = ctx.number("maxnorm");
  const Expression around = around_axis(self, axis);
  const Dims dims = around.type().dims;
  const Expression slices = reshape(transpose(around, {1, 0, 2}), {dims[1], dims[0] * dims[2]});
  const Expression norm = norm_of_last(slices, ctx.number("p"));
  const Expression factor = choose(is_greater(norm, most), most / (norm + kMargin), 1.0);
  reshape(around * reshape(factor, {Dim(1), dims[1], Dim(1)}), self.type().dims).set_output();
}

}  // namespace

OpRules distance_rules() {
  const char* distances = "float32 of fixed sizes; at most 2^22 differences";
  return {
      {"aten::cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor", 3, distances, cdist_type,
       lower_cdist, costing(Macs::kNotCounted)},
      {"aten::_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor", 3, distances, cdist_type,
       lower_cdist, costing(Macs::kNotCounted)},
      {"aten::pdist(Tensor self, float p=2.) -> Tensor", 3, distances, pdist_type, lower_pdist, kUnprovedRows},
      {"aten::linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor", 3,
       "integers: those known to be up to 2^24", cross_type, lower_cross, kUnprovedRows},
      {"aten::vdot(Tensor self, Tensor other) -> Tensor", 3, "float32", vdot_type, lower_vdot, costing(Macs::kProduct)},
      {"aten::addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", 1, "float32",
       addr_type, lower_addr, kUnprovedRows},
      {"aten::renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor", 3, "float32", renorm_type,
       lower_renorm, kUnprovedRows},
  };
}

}  // namespace nnapi_convert
