// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/writing.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "lib/ops/axis.h"
#include "lib/ops/formula.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {

void require_written(const OpArguments& args, const TensorType& type) {
  args.require(type.dtype == at::kFloat || type.dtype == at::kInt || type.dtype == at::kLong,
               "a tensor " + to_text(type), "float32, int32 or int64");
  require_rank(args, type, 0, kHighestRank);
  args.require(all_fixed(type.dims), "flexible sizes", "fixed sizes", "give every size of the input with --input");
  const int64_t count = product(type.dims).value();
  args.require(count > 0, "a tensor without elements", "one or more");
  args.require(count <= kMostPlaces, fmt::format("{} elements", count), fmt::format("{} at most", kMostPlaces));
}

Expression from_front(const Expression& index, double size) {
  return index + as_number(is_less(index, 0)) * size;
}

Expression reduced_writes(const Writing& writing, OperationCode code, double neutral) {
  const Dims dims = writing.source.type().dims;
  const Expression values =
      choose(writing.is_there, reshape(writing.source, {dims[0], dims[1], Dim(1)}), writing.self.same(neutral));
  return reduce(code, values, {1}, false);
}

Expression counted_writes(const Writing& writing) {
  return reduce(OperationCode::REDUCE_SUM, as_number(writing.is_there), {1}, false);
}

// Joins both tensors, and gathers for each place its last written element, or its own.
Expression last_writes(const Writing& writing) {
  OpContext& ctx = writing.self.context();
  const int64_t rows = writing.self.type().dims[0].value(), size = writing.self.type().dims[1].value();
  const int64_t count = writing.source.type().dims[1].value();
  const int64_t own = rows * size, all = own + rows * count;
  ctx.require(all <= kMostPlaces, fmt::format("{} elements", all), fmt::format("{} at most", kMostPlaces));
  const Expression order = tensor_constant(ctx, (at::arange(count, at::kFloat) + 1).reshape({1, count, 1}));
  const Expression last = reduce(OperationCode::REDUCE_MAX, choose(writing.is_there, order, order.same(0)), {1}, false);
  const at::Tensor own_places = at::arange(own, at::kFloat).reshape({rows, size});
  const at::Tensor first_places = (at::arange(rows, at::kFloat) * count + (own - 1)).unsqueeze(1);
  const Expression place =
      choose(is_equal(last, 0), tensor_constant(ctx, own_places), last + tensor_constant(ctx, first_places));
  const Expression self = reshape(writing.self, {Dim(own)}), source = reshape(writing.source, {Dim(all - own)});
  const Expression joined =
      self.then(OperationCode::CONCATENATION, {source.id(), ctx.builder().int32(0)}, self.type().with_dims({Dim(all)}));
  const Expression indices = cast(reshape(place, {Dim(own)}), at::kInt);
  const Expression picked = joined.then(OperationCode::GATHER, {ctx.builder().int32(0), indices.id()}, self.type());
  return reshape(picked, writing.self.type().dims);
}

}  // namespace nnapi_convert
