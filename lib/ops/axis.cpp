// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/axis.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "lib/ops/promotion.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {

size_t axis_argument(const OpArguments& args, const TensorType& self) {
  const int64_t axis = args.is_none("dim") ? 0 : args.integer("dim");
  return static_cast<size_t>(checked_axis(args, axis, std::max<size_t>(self.rank(), 1)));
}

int64_t fixed_axis_size(const OpArguments& args, const TensorType& self, size_t axis) {
  if (self.rank() == 0) return 1;
  const Dim& size = self.dims[axis];
  args.require(size.is_fixed(), "a flexible size", "a fixed size", "give every size of the input with --input");
  args.require(size.value() > 0, "an axis without elements", "one or more");
  return size.value();
}

Dims with_axis(const TensorType& self, size_t axis, const Dim& size) {
  Dims dims = self.rank() == 0 ? Dims{Dim(1)} : self.dims;
  dims[axis] = size;
  return dims;
}

Dims without_axis(const TensorType& self, size_t axis, bool keeps_axis) {
  if (self.rank() == 0) return {};
  return without_axes(self.dims, {static_cast<int64_t>(axis)}, keeps_axis);
}

Expression around_axis(const Expression& x, size_t axis) {
  if (x.type().rank() == 0) return reshape(x, {Dim(1), Dim(1), Dim(1)});
  const Dims& dims = x.type().dims;
  const auto at = dims.begin() + static_cast<std::ptrdiff_t>(axis);
  return reshape(x, {product(Dims(dims.begin(), at)), *at, product(Dims(at + 1, dims.end()))});
}

Expression as_rows(const Expression& x, size_t axis) {
  const Expression around = around_axis(x, axis);
  const Dims dims = around.type().dims;
  const Expression turned = dims[2] == Dim(1) ? around : transpose(around, {0, 2, 1});
  return reshape(turned, {dims[0] * dims[2], dims[1]});
}

Expression from_rows(const Expression& rows, const TensorType& type, size_t axis) {
  const Dim count = rows.type().dims[1];
  const Dims target = with_axis(type, axis, count);
  const auto at = target.begin() + static_cast<std::ptrdiff_t>(axis);
  const Dim before = product(Dims(target.begin(), at)), behind = product(Dims(at + 1, target.end()));
  if (behind == Dim(1)) return reshape(rows, target);
  return reshape(transpose(reshape(rows, {before, behind, count}), {0, 2, 1}), target);
}

Expression part(const Expression& x, size_t axis, const Dim& begin, const Dim& end) {
  OpContext& ctx = x.context();
  Dims begins(x.type().rank(), Dim(0)), ends = x.type().dims;
  begins[axis] = begin;
  ends[axis] = end;
  Dims dims = x.type().dims;
  dims[axis] = end - begin;
  const nnapi::OperandId id = ctx.sliced({x.id(), x.type()}, begins, ends, Dims(x.type().rank(), Dim(1)));
  return {ctx, {id, x.type().with_dims(dims)}};
}

Expression positions(OpContext& ctx, int64_t size, size_t rank) {
  std::vector<int64_t> sizes(rank, 1);
  sizes.back() = size;
  return tensor_constant(ctx, at::arange(size, at::kFloat).reshape(sizes));
}

void require_few_pairs(const OpArguments& args, const Dim& pairs) {
  constexpr int64_t kMostPairs = int64_t{1} << 22;  // each is a float32 in memory
  args.require(pairs.is_fixed(), "a flexible number of pairs to compare", "fixed sizes",
               "give every size of the input with --input");
  args.require(pairs.value() <= kMostPairs, fmt::format("{} pairs of elements to compare", pairs.value()),
               fmt::format("{} at most", kMostPairs), "NNAPI has no such operation, and comparing all is slow");
}

}  // namespace nnapi_convert
