// SPDX-License-Identifier: BSD-3-Clause
// Indexing by tensors, x[:, i, j]: constant ones and ones that are computed at run time.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "lib/nnapi/api_level.h"
#include "lib/ops/axis.h"
#include "lib/ops/counted_axes.h"
#include "lib/ops/families.h"
#include "lib/ops/indices.h"
#include "lib/ops/promotion.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

// The indexed axes of a tensor. `order` brings them side by side; they are then read as one axis.
struct IndexedAxes {
  std::vector<AxisIndex> indices;
  std::vector<int64_t> order;   // the order of self's axes
  size_t first = 0;             // the place of the first indexed axis, after `order`
  Dims index_dims;              // the sizes of all indices, broadcast
  std::optional<Dims> counted;  // counted_elements() of the indices
  Dims from_end;                // the places of a single constant index that counts from a flexible end

  bool is_reordered() const { return !std::is_sorted(order.begin(), order.end()); }
  bool is_computed() const {
    return std::any_of(indices.begin(), indices.end(),
                       [](const AxisIndex& index) { return index.computed != nullptr; });
  }
};

// Chooses the order as PyTorch does: if other axes lie between the indexed ones, the indexed ones come first.
void find_order(IndexedAxes& axes, size_t rank) {
  const bool is_side_by_side = axes.indices.back().axis - axes.indices.front().axis + 1 == axes.indices.size();
  axes.first = is_side_by_side ? axes.indices.front().axis : 0;
  axes.order.resize(rank);
  std::iota(axes.order.begin(), axes.order.end(), 0);
  if (is_side_by_side) return;
  const auto is_indexed = [&](int64_t axis) {
    return std::any_of(axes.indices.begin(), axes.indices.end(),
                       [&](const AxisIndex& index) { return static_cast<int64_t>(index.axis) == axis; });
  };
  std::stable_partition(axes.order.begin(), axes.order.end(), is_indexed);
}

bool counts_from_flexible_end(const AxisIndex& index, const Dim& size) {
  return index.computed == nullptr && !size.is_fixed() && index.constant.dim() == 1 && index.constant.numel() > 0 &&
         at::isIntegralType(index.constant.scalar_type(), false) && index.constant.scalar_type() != at::kByte &&
         index.constant.min().item<int64_t>() < 0;
}

Dims places_from_end(const at::Tensor& indices, const Dim& size) {
  Dims places;
  for (int64_t i = 0; i < indices.numel(); ++i) {
    const auto index = indices[i].item<int64_t>();
    places.push_back(index < 0 ? size + Dim(index) : Dim(index));
  }
  return places;
}

IndexedAxes read_axes(const OpArguments& args, const TensorType& self) {
  IndexedAxes axes;
  axes.indices = axis_indices(args);
  args.require(!axes.indices.empty(), "no index", "one or more");
  args.require(axes.indices.back().axis < self.rank(),
               fmt::format("{} indices of {}", axes.indices.back().axis + 1, to_text(self)),
               "one for each axis at most");
  axes.counted = counted_elements(args, axes.indices);
  for (size_t i = 0; axes.counted && i < axes.indices.size(); ++i) {
    const Dim &taken = axes.counted->at(i), &size = self.dims[axes.indices[i].axis];
    args.require(!taken.is_fixed() || !size.is_fixed() || taken.value() <= size.value(),
                 fmt::format("{} indices of an axis of {}", taken.text(), size.text()), "one for each element at most");
  }
  for (AxisIndex& index : axes.indices) {
    const Dim& size = self.dims[index.axis];
    args.require(axes.counted || &index == &axes.indices.front() || size.is_fixed(),
                 "several indices of flexible sizes", "fixed sizes", "give every size of the input with --input");
    if (axes.indices.size() == 1 && counts_from_flexible_end(index, size)) {
      axes.from_end = places_from_end(index.constant, size);
    } else if (index.computed == nullptr) {
      index.constant = checked_indices(args, index.constant, size);
    }
    const TensorType type = type_of(args, index);
    require_indices(args, type);
    axes.index_dims = broadcast(args, axes.index_dims, type.dims);
  }
  find_order(axes, self.rank());
  return axes;
}

// Returns the type of the reordered tensor with its indexed axes merged to one.
TensorType merged_source(const TensorType& self, const IndexedAxes& axes) {
  const Dims dims = nnapi::permute(self.dims, axes.order);
  const auto begin = dims.begin() + static_cast<std::ptrdiff_t>(axes.first);
  const auto end = begin + static_cast<std::ptrdiff_t>(axes.indices.size());
  Dims merged(dims.begin(), begin);
  merged.push_back(product(Dims(begin, end)));
  merged.insert(merged.end(), end, dims.end());
  return self.with_dims(merged);
}

std::vector<ValueType> index_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_rank(args, self, 1, kHighestRank);
  const IndexedAxes axes = read_axes(args, self);
  const TensorType result = gathered(merged_source(self, axes), axes.first, axes.index_dims);
  args.require(result.rank() >= 1, "a single element", "a result of rank 1 or more");
  return {result};
}

Expression counted_index(OpContext& ctx, const TorchValue& index, const Dim& size, at::ScalarType dtype) {
  LoweredTensor tensor = ctx.operand_of(&index);
  if (tensor.type.dims.empty()) tensor.type.dims = {Dim(1)};
  const Expression given = cast({ctx, tensor}, dtype);
  return is_never_negative(index) ? given : counted_from_front(given, size);
}

// Returns the dtype in which several computed indices are merged: below feature level 4, integers have no arithmetic.
at::ScalarType merging_type(const OpContext& ctx, const Dim& places) {
  constexpr int kAddsIntegers = 4;
  constexpr int64_t kMostExact = int64_t{1} << 24;  // whole numbers that a float32 holds
  if (ctx.feature_level() >= kAddsIntegers) return at::kInt;
  ctx.require(places.fixed_value().value_or(kMostExact + 1) <= kMostExact,
              fmt::format("computed indices of axes with {} places", places.text()),
              fmt::format("{} places at most at feature level {}", kMostExact, ctx.feature_level()),
              "use " + option_for_level(kAddsIntegers));
  return at::kFloat;
}

// Returns the places in the merged axis that the indices name.
nnapi::OperandId merged_index(OpContext& ctx, const TensorType& self, const IndexedAxes& axes) {
  if (!axes.from_end.empty()) return ctx.builder().int32_tensor(axes.from_end);
  const bool is_merged = axes.is_computed() && axes.indices.size() > 1;
  const auto dtype = is_merged ? merging_type(ctx, merged_source(self, axes).dims[axes.first]) : at::kInt;
  at::Tensor known;
  std::optional<Expression> computed;
  int64_t stride = 1;
  for (size_t i = axes.indices.size(); i-- > 0;) {
    const AxisIndex& index = axes.indices[i];
    const Dim& size = self.dims[index.axis];
    if (index.computed == nullptr) {
      const at::Tensor part = index.constant * stride;
      known = known.defined() ? known + part : part;
    } else {
      const Expression counted = counted_index(ctx, *index.computed, size, dtype);
      const Expression part = stride == 1 ? counted : counted * static_cast<double>(stride);
      computed = computed ? *computed + part : part;
    }
    if (i > 0) stride *= size.value();
  }
  if (!computed) return ctx.constant_operand(known);
  if (known.defined()) computed = *computed + tensor_constant(ctx, known.to(dtype));
  return cast(*computed, at::kInt).id();
}

void lower_index(OpContext& ctx) {
  LoweredTensor self = ctx.operand("self");
  const IndexedAxes axes = read_axes(ctx, self.type);
  const TensorType source = merged_source(self.type, axes);
  const auto indices = axes.counted ? std::nullopt : std::optional(merged_index(ctx, self.type, axes));
  for (size_t i = 0; axes.counted && i < axes.indices.size(); ++i) {
    const size_t axis = axes.indices[i].axis;
    const Dim& taken = axes.counted->at(i);
    if (taken == self.type.dims[axis]) continue;
    const Expression first = part({ctx, self}, axis, 0, taken);
    self = {first.id(), first.type()};
  }
  if (axes.is_reordered()) {
    const Expression reordered = transpose({ctx, self}, axes.order);
    self = {reordered.id(), reordered.type()};
  }
  if (!indices) return ctx.set_output(ctx.reshaped(self, ctx.output_type().dims));
  // A single index is a vector of one in NNAPI.
  const TensorType result = gathered(source, axes.first, axes.index_dims.empty() ? Dims{1} : axes.index_dims);
  const nnapi::OperandId found =
      emit_gather(ctx, {ctx.reshaped(self, source.dims), source}, axes.first, *indices, result);
  ctx.set_output(ctx.reshaped({found, result}, ctx.output_type().dims));
}

constexpr const char* kIndexNote =
    "indices from -size to size - 1; of several, the axes have fixed sizes, but for the first, unless "
    "each counts from 0 on (arange); computed ones outside: "
    "undefined, where PyTorch raises";

}  // namespace

OpRules advanced_index_rules() {
  return {
      {"aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", 3, kIndexNote, index_type, lower_index,
       kUnprovedRows | Index::kPositions | ResultSizes::kIndexed},
      {"aten::index.Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor", 3, kIndexNote, index_type,
       lower_index, kUnprovedRows | Index::kPositions | ResultSizes::kIndexed},
  };
}

}  // namespace nnapi_convert
