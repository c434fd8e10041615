// SPDX-License-Identifier: BSD-3-Clause
// Products of matrices and batches of them.
#include "lib/ops/matmul.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "lib/base/size_hint.h"
#include "lib/ops/families.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {

Factor transposed(const Factor& factor) {
  std::vector<int64_t> order(factor.rank());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::swap(order[order.size() - 2], order[order.size() - 1]);
  return factor.permuted(order);
}

namespace {

constexpr int kBatchMatmulLevel = 6;
constexpr auto kNoActivation = static_cast<int64_t>(FuseCode::NONE);

Dims leading(const Dims& dims, size_t left_out) {
  return Dims(dims.begin(), dims.end() - static_cast<std::ptrdiff_t>(left_out));
}

TensorType float_type(Dims dims) {
  return {at::kFloat, std::move(dims), {}};
}

nnapi::OperandId zeros(OpContext& ctx, const Dim& count) {
  return ctx.builder().tensor(nnapi::Constant::of_floats(std::vector<float>(static_cast<size_t>(count.value()))));
}

Factor emitted(OpContext& ctx, OperationCode code, std::vector<nnapi::OperandId> inputs, const TensorType& type) {
  return Factor(ctx, LoweredTensor{ctx.emit_to(code, std::move(inputs), type), type});
}

Factor batch_matmul(OpContext& ctx, const Factor& left, const Factor& right, bool right_is_transposed) {
  Dims dims = leading(left.dims(), 1);
  dims.push_back(right.dims()[right.rank() - (right_is_transposed ? 2 : 1)]);
  const nnapi::OperandId as_it_is = ctx.builder().boolean(false);
  return emitted(ctx, OperationCode::BATCH_MATMUL,
                 {left.operand(), right.operand(), as_it_is, ctx.builder().boolean(right_is_transposed)},
                 float_type(dims));
}

// Multiplies every pair of rows of left [B, M, K] and right [B, N, K], and sums along K; either batch may be 1.
Factor summed_product(OpContext& ctx, const Factor& left, const Factor& right) {
  const Dim batch = left.dims()[0] == Dim(1) ? right.dims()[0] : left.dims()[0];
  const Dim& rows = left.dims()[1];
  const Dim& columns = right.dims()[1];
  const Dim& inner = left.dims()[2];
  const auto multiplied = [&](const Factor& a, const Factor& b, const Dims& dims) {
    return emitted(ctx, OperationCode::MUL, {a.operand(), b.operand(), ctx.builder().int32(kNoActivation)},
                   float_type(dims));
  };
  if (inner == Dim(1)) {
    return multiplied(left, right.reshaped({right.dims()[0], Dim(1), columns}), {batch, rows, columns});
  }
  const Factor pairs =
      multiplied(left.reshaped({left.dims()[0], rows, Dim(1), inner}),
                 right.reshaped({right.dims()[0], Dim(1), columns, inner}), {batch, rows, columns, inner});
  return emitted(ctx, OperationCode::REDUCE_SUM,
                 {pairs.operand(), ctx.builder().int32_tensor({Dim(3)}), ctx.builder().boolean(false)},
                 float_type({batch, rows, columns}));
}

Factor product_of_parts(OpContext& ctx, const Factor& left, const Factor& right) {
  const int64_t batch = left.dims()[0].value();
  const Dim& rows = left.dims()[1];
  const Dim& columns = right.dims()[1];
  const Dim& inner = left.dims()[2];
  const auto lefts = left.reshaped({left.dims()[0] * rows, inner}).split(batch);
  const auto rights = right.reshaped({right.dims()[0] * columns, inner}).split(batch);
  std::vector<nnapi::OperandId> parts;
  for (size_t i = 0; i < lefts.size(); ++i) parts.push_back(row_product(ctx, lefts[i], rights[i]).operand());
  parts.push_back(ctx.builder().int32(0));
  const TensorType type = float_type({left.dims()[0] * rows, columns});
  return emitted(ctx, OperationCode::CONCATENATION, parts, type).reshaped({left.dims()[0], rows, columns});
}

Factor expanded_batch(const Factor& factor, const Dims& batch) {
  Dims with_ones(batch.size() + 2 - factor.rank(), Dim(1));
  with_ones.insert(with_ones.end(), factor.dims().begin(), factor.dims().end());
  Dims dims = batch;
  dims.insert(dims.end(), factor.dims().end() - 2, factor.dims().end());
  return factor.reshaped(with_ones).expanded(dims);
}

Factor merged_batch(const Factor& factor) {
  return factor.reshaped({product(leading(factor.dims(), 2)), factor.dims().end()[-2], factor.dims().back()});
}

// Multiplies batches of matrices; both have the same batch sizes.
Factor product_of_batches(OpContext& ctx, const Factor& left, const Factor& right) {
  if (ctx.can_use(OperationCode::BATCH_MATMUL, kBatchMatmulLevel) && left.rank() <= 4)
    return batch_matmul(ctx, left, right, false);
  Dims dims = leading(left.dims(), 1);
  dims.push_back(right.dims().back());
  return batch_product(ctx, merged_batch(left), merged_batch(right), false).reshaped(dims);
}

}  // namespace

Factor row_product(OpContext& ctx, const Factor& left, const Factor& weights, std::optional<nnapi::OperandId> bias) {
  const Dim columns = weights.dims()[0];
  const Dim rows = product(leading(left.dims(), 1));
  const TensorType type = float_type({rows, columns});
  if (columns.is_fixed()) {
    const nnapi::OperandId added = bias ? *bias : zeros(ctx, columns);
    return emitted(ctx, OperationCode::FULLY_CONNECTED,
                   {left.operand(), weights.operand(), added, ctx.builder().int32(kNoActivation)}, type);
  }
  const Factor matrix = left.reshaped({rows, left.dims().back()});
  const Factor result = ctx.can_use(OperationCode::BATCH_MATMUL, kBatchMatmulLevel)
                            ? batch_matmul(ctx, matrix, weights, true)
                            : summed_product(ctx, matrix.reshaped({Dim(1), rows, left.dims().back()}),
                                             weights.reshaped({Dim(1), columns, left.dims().back()}))
                                  .reshaped(type.dims);
  if (!bias) return result;
  return emitted(ctx, OperationCode::ADD, {result.operand(), *bias, ctx.builder().int32(kNoActivation)}, type);
}

Factor batch_product(OpContext& ctx, const Factor& left, const Factor& right, bool right_is_transposed) {
  if (left.dims()[2] == Dim(1)) {
    return summed_product(ctx, left,
                          right.reshaped({left.dims()[0], right.dims()[right_is_transposed ? 1 : 2], Dim(1)}));
  }
  if (left.dims()[0] == Dim(1)) {
    const Factor matrix = right.reshaped({right.dims()[1], right.dims()[2]});
    const Factor weights = right_is_transposed ? matrix : transposed(matrix);
    return row_product(ctx, left, weights).reshaped({Dim(1), left.dims()[1], weights.dims()[0]});
  }
  if (ctx.can_use(OperationCode::BATCH_MATMUL, kBatchMatmulLevel))
    return batch_matmul(ctx, left, right, right_is_transposed);
  const Factor weights = right_is_transposed ? right : transposed(right);
  // For rows by one vector, the products of single numbers take no more room than the rows.
  const bool is_small = left.dims()[1] == Dim(1) || weights.dims()[1] == Dim(1);
  const bool is_fixed = left.dims()[0].is_fixed() && weights.dims()[1].is_fixed();
  return is_fixed && !is_small ? product_of_parts(ctx, left, weights) : summed_product(ctx, left, weights);
}

Factor matrix_product(OpContext& ctx, Factor left, Factor right) {
  if (left.rank() == 1) left = left.reshaped({Dim(1), left.dims()[0]});
  if (right.rank() == 1) right = right.reshaped({right.dims()[0], Dim(1)});
  const Dims left_batch = leading(left.dims(), 2);
  const Dims right_batch = leading(right.dims(), 2);
  const Dims batch = broadcast(ctx, left_batch, right_batch);
  Dims dims = batch;
  dims.insert(dims.end(), {left.dims().end()[-2], right.dims().back()});
  if (product(right_batch) == Dim(1)) {
    const Factor weights = transposed(right.reshaped({right.dims().end()[-2], right.dims().back()}));
    const Factor rows = left.rank() > 4 ? merged_batch(left) : left;
    return row_product(ctx, rows, weights).reshaped(dims);
  }
  if (product(left_batch) == Dim(1)) {  // left is one matrix: it becomes the weights
    const Factor weights = left.reshaped({left.dims().end()[-2], left.dims().back()});
    const Factor columns = transposed(right.rank() > 4 ? merged_batch(right) : right);
    Dims result = leading(columns.dims(), 1);
    result.push_back(weights.dims()[0]);
    return transposed(row_product(ctx, columns, weights).reshaped(result)).reshaped(dims);
  }
  return product_of_batches(ctx, expanded_batch(left, batch), expanded_batch(right, batch));
}

Dims matmul_dims(const OpArguments& args, const Dims& left, const Dims& right) {
  const Dim& inner = right[right.size() - std::min<size_t>(right.size(), 2)];
  args.require(left.back() == inner || !left.back().is_fixed() || !inner.is_fixed(),
               fmt::format("a product of {} and {}", to_text(left), to_text(right)),
               fmt::format("equal sizes where {} and {} meet", left.back().text(), inner.text()), kSeeInput);
  const size_t matrix_of_left = std::min<size_t>(left.size(), 2);
  const size_t matrix_of_right = std::min<size_t>(right.size(), 2);
  Dims dims = broadcast(args, leading(left, matrix_of_left), leading(right, matrix_of_right));
  if (left.size() > 1) dims.push_back(left[left.size() - 2]);
  if (right.size() > 1) dims.push_back(right.back());
  return dims;
}

namespace {

// The names of the factors in a schema, and their ranks (0: any).
struct ProductArguments {
  const char* left;
  const char* right;
  size_t left_rank, right_rank;
};

constexpr ProductArguments kMatmul{"self", "other", 0, 0};
constexpr ProductArguments kMm{"self", "mat2", 2, 2};
constexpr ProductArguments kBmm{"self", "mat2", 3, 3};
constexpr ProductArguments kMv{"self", "vec", 2, 1};
constexpr ProductArguments kAddmm{"mat1", "mat2", 2, 2};
constexpr ProductArguments kAddmv{"mat", "vec", 2, 1};
constexpr ProductArguments kBaddbmm{"batch1", "batch2", 3, 3};

TensorType factor_type(const OpArguments& args, const char* name, size_t rank) {
  const TensorType type = args.tensor(name);
  require_float(args, type);
  if (rank == 0) {
    require_rank(args, type, 1, 6);
  } else {
    require_rank(args, type, rank, rank);
  }
  return type;
}

Dims product_dims(const OpArguments& args, const ProductArguments& names) {
  const TensorType left = factor_type(args, names.left, names.left_rank);
  const TensorType right = factor_type(args, names.right, names.right_rank);
  return matmul_dims(args, left.dims, right.dims);
}

template <const ProductArguments& names>
std::vector<ValueType> product_type(const OpArguments& args) {
  return {float_type(product_dims(args, names))};
}

template <const ProductArguments& names>
void lower_product(OpContext& ctx) {
  const Factor result = matrix_product(ctx, Factor(ctx, names.left), Factor(ctx, names.right));
  ctx.set_output(result.reshaped(ctx.output_type().dims).operand());
}

// Returns the sizes of beta * self + alpha * product; self has to broadcast to the product.
Dims with_added(const OpArguments& args, const Dims& dims) {
  const TensorType self = args.tensor("self");
  require_float(args, self);
  const Dims sum = broadcast(args, self.dims, dims);
  bool is_same = sum.size() == dims.size();
  for (size_t i = 0; i < dims.size() && is_same; ++i) is_same = sum[i] == dims[i] || dims[i] != Dim(1);
  args.require(is_same, fmt::format("an added tensor {}", to_text(self)), "one that broadcasts to " + to_text(dims));
  return dims;
}

template <const ProductArguments& names>
std::vector<ValueType> added_product_type(const OpArguments& args) {
  return {float_type(with_added(args, product_dims(args, names)))};
}

// Multiplies two matrices by alpha, which goes into a constant factor if there is one.
Factor scaled_product(OpContext& ctx, const Factor& left, const Factor& right, double alpha) {
  if (left.is_constant()) return matrix_product(ctx, left.scaled(alpha), right);
  if (right.is_constant()) return matrix_product(ctx, left, right.scaled(alpha));
  return matrix_product(ctx, left, right).scaled(alpha);
}

void add_to_product(OpContext& ctx, const Factor& result) {
  const Factor sum = result.reshaped(ctx.output_type().dims);
  if (ctx.number("beta") == 0) return ctx.set_output(sum.operand());
  const Factor self = Factor(ctx, "self").scaled(ctx.number("beta"));
  const Factor added = self.rank() == 0 ? self.reshaped({Dim(1)}) : self;
  ctx.emit(OperationCode::ADD, {sum.operand(), added.operand(), ctx.builder().int32(kNoActivation)});
}

template <const ProductArguments& names>
void lower_added_product(OpContext& ctx) {
  add_to_product(ctx, scaled_product(ctx, Factor(ctx, names.left), Factor(ctx, names.right), ctx.number("alpha")));
}

// addmm: a vector that is added to every row becomes the bias.
void lower_addmm(OpContext& ctx) {
  const Factor weights = transposed(Factor(ctx, "mat2"));
  const Factor self = Factor(ctx, "self").scaled(ctx.number("beta"));
  const double alpha = ctx.number("alpha");
  const bool is_bias =
      self.rank() > 0 && self.dims().back() == weights.dims()[0] && product(self.dims()) == weights.dims()[0];
  const bool scales_weights = alpha == 1 || weights.is_constant();
  if (!is_bias || !scales_weights || ctx.number("beta") == 0) return lower_added_product<kAddmm>(ctx);
  const nnapi::OperandId bias = self.reshaped({weights.dims()[0]}).operand();
  ctx.set_output(row_product(ctx, Factor(ctx, "mat1"), weights.scaled(alpha), bias).operand());
}

// addbmm: the sum over the batch becomes a longer inner axis.
std::vector<ValueType> addbmm_type(const OpArguments& args) {
  const Dims dims = product_dims(args, kBaddbmm);
  return {float_type(with_added(args, {dims[1], dims[2]}))};
}

void lower_addbmm(OpContext& ctx) {
  const Factor left = Factor(ctx, "batch1").permuted({1, 0, 2});
  const Factor right(ctx, "batch2");
  const Dim inner = right.dims()[0] * right.dims()[1];
  add_to_product(ctx, scaled_product(ctx, left.reshaped({left.dims()[0], inner}),
                                     right.reshaped({inner, right.dims()[2]}), ctx.number("alpha")));
}

constexpr const char* kMatmulNote =
    "float32; a batch of products by run-time values: BATCH_MATMUL (feature level 6), GROUPED_CONV_2D (level 3), or a "
    "FULLY_CONNECTED each";

}  // namespace

OpRules matmul_rules() {
  return {
      {"aten::matmul(Tensor self, Tensor other) -> Tensor", 1, kMatmulNote, product_type<kMatmul>,
       lower_product<kMatmul>, costing(Macs::kProduct, Rows::kMatrices) | Memory::kFresh},
      {"aten::mm(Tensor self, Tensor mat2) -> Tensor", 1, "float32; run-time mat2: feature level 2", product_type<kMm>,
       lower_product<kMm>, costing(Macs::kProduct, Rows::kMatrices) | Memory::kFresh},
      {"aten::bmm(Tensor self, Tensor mat2) -> Tensor", 1, kMatmulNote, product_type<kBmm>, lower_product<kBmm>,
       costing(Macs::kProduct, Rows::kMatrices) | Memory::kFresh},
      {"aten::mv(Tensor self, Tensor vec) -> Tensor", 1, "float32", product_type<kMv>, lower_product<kMv>,
       costing(Macs::kProduct)},
      {"aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", 1,
       "float32; run-time mat2: feature level 2", added_product_type<kAddmm>, lower_addmm,
       costing(Macs::kAddedProduct, Rows::kAddedMatrices) | Memory::kFresh},
      {"aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor", 1, "float32",
       added_product_type<kAddmv>, lower_added_product<kAddmv>, costing(Macs::kAddedProduct)},
      {"aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", 1,
       kMatmulNote, added_product_type<kBaddbmm>, lower_added_product<kBaddbmm>,
       costing(Macs::kAddedProduct) | Memory::kFresh},
      {"aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", 2,
       "float32; run-time values: feature level 2", addbmm_type, lower_addbmm, costing(Macs::kSummedProducts)},
  };
}

}  // namespace nnapi_convert
