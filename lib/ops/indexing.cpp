// SPDX-License-Identifier: BSD-3-Clause
// Elements picked by index, and axes turned round.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <numeric>

#include "lib/ops/axis.h"
#include "lib/ops/families.h"
#include "lib/ops/indices.h"
#include "lib/ops/promotion.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

// Returns the operand of an index argument. PyTorch raises for run-time indices outside the axis; NNAPI doesn't define
// what a device does with them.
nnapi::OperandId index_operand(OpContext& ctx, const std::string& name, const Dim& size) {
  if (!ctx.is_constant(name)) return ctx.operand(name).id;
  return ctx.constant_operand(checked_indices(ctx, ctx.constant(name), size));
}

std::vector<ValueType> embedding_type(const OpArguments& args) {
  const TensorType weight = args.tensor("weight");
  const TensorType indices = args.tensor("indices");
  require_rank(args, weight, 2, 2);
  require_indices(args, indices);
  return {gathered(weight, 0, indices.dims)};
}

void lower_embedding(OpContext& ctx) {
  const LoweredTensor weight = ctx.operand("weight");
  const nnapi::OperandId indices = index_operand(ctx, "indices", weight.type.dims[0]);
  const Dims dims = ctx.tensor("indices").dims;
  // A single index is a vector of one in NNAPI.
  const TensorType rows = gathered(weight.type, 0, dims.empty() ? Dims{Dim(1)} : dims);
  ctx.set_output(ctx.reshaped({emit_gather(ctx, weight, 0, indices, rows), rows}, ctx.output_type().dims));
}

std::vector<ValueType> index_select_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  const TensorType index = args.tensor("index");
  require_rank(args, self, 1, kHighestRank);
  require_rank(args, index, 1, 1);
  require_indices(args, index);
  return {gathered(self, static_cast<size_t>(checked_axis(args, args.integer("dim"), self.rank())), index.dims)};
}

void lower_index_select(OpContext& ctx) {
  const LoweredTensor self = ctx.operand("self");
  const auto axis = static_cast<size_t>(checked_axis(ctx, ctx.integer("dim"), self.type.rank()));
  const nnapi::OperandId index = index_operand(ctx, "index", self.type.dims[axis]);
  ctx.set_output(emit_gather(ctx, self, axis, index, ctx.output_type()));
}

// Returns the type with an axis at least: a tensor of rank 0 becomes a vector of one element.
TensorType with_an_axis(const TensorType& type) {
  return type.rank() == 0 ? type.with_dims({Dim(1)}) : type;
}

// True if the index has one element along all axes but one, along which it is gathered: self is a vector then.
bool is_vector(const OpArguments& args) {
  const Dims dims = args.tensor("index").dims;
  if (dims.empty() || args.tensor("self").rank() == 0) return false;
  const auto axis = static_cast<size_t>(checked_axis(args, args.integer("dim"), dims.size()));
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i != axis && dims[i] != Dim(1)) return false;
  }
  return true;
}

std::vector<ValueType> gather_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  const TensorType index = args.tensor("index");
  require_rank(args, self, 0, kHighestRank);
  require_indices(args, index);
  args.require(with_an_axis(index).rank() == with_an_axis(self).rank(),
               fmt::format("an index of rank {} of {}", index.rank(), to_text(self)), "equal ranks");
  args.require((all_fixed(self.dims) && all_fixed(index.dims)) || is_vector(args), "flexible sizes", "fixed sizes",
               "give every size of the input with --input");
  return {self.with_dims(index.dims)};
}

// Lowers gather on a vector to GATHER itself, whatever the sizes are.
void lower_vector_gather(OpContext& ctx) {
  Expression self = argument(ctx, "self");
  const auto axis = static_cast<size_t>(checked_axis(ctx, ctx.integer("dim"), self.type().rank()));
  for (size_t i = 0; i < self.type().rank(); ++i) {
    if (i != axis && self.type().dims[i] != Dim(1)) self = part(self, i, 0, 1);
  }
  const Expression vector = reshape(self, Dims{self.type().dims[axis]});
  const Expression places = reshape(cast(argument(ctx, "index"), at::kInt), Dims{product(ctx.output_type().dims)});
  const TensorType picked = vector.type().with_dims(places.type().dims);
  const nnapi::OperandId found = emit_gather(ctx, {vector.id(), vector.type()}, 0, places.id(), picked);
  ctx.set_output(ctx.reshaped({found, picked}, ctx.output_type().dims));
}

// Returns the flat places that a computed index names, as a vector: the index along the axis, each element's own place
// along the others. Computes in float32, which has arithmetic at every level.
nnapi::OperandId computed_places(OpContext& ctx, const at::Tensor& places, int64_t axis) {
  constexpr int64_t kMostElements = int64_t{1} << 24;  // whole numbers that a float32 holds
  ctx.require(places.numel() <= kMostElements, fmt::format("{} elements", places.numel()),
              fmt::format("{} at most", kMostElements));
  const Expression index = argument(ctx, "index");
  const std::vector<int64_t> sizes = fixed_values(with_an_axis(index.type()).dims);
  at::Tensor others = places.narrow(axis, 0, 1);
  std::vector<int64_t> repeats(sizes.size(), 1);
  repeats[static_cast<size_t>(axis)] = sizes[static_cast<size_t>(axis)];
  for (int64_t i = 0; i < others.dim(); ++i) {
    if (i != axis) others = others.narrow(i, 0, sizes[static_cast<size_t>(i)]);
  }
  const Dims flat{product(index.type().dims)};
  const Expression along = reshape(cast(index, at::kFloat), flat) * static_cast<double>(places.stride(axis));
  const Expression rest = tensor_constant(ctx, others.repeat(repeats).flatten().to(at::kFloat));
  return cast(along + rest, at::kInt).id();
}

// Lowers gather by a GATHER of the flat tensor at each element's place in it.
void lower_gather(OpContext& ctx) {
  const bool is_known = ctx.is_constant("index") && all_fixed(ctx.tensor("self").dims);
  if (!is_known && is_vector(ctx)) return lower_vector_gather(ctx);
  const LoweredTensor self = ctx.operand("self");
  const Dims dims = with_an_axis(self.type).dims;
  const auto axis = checked_axis(ctx, ctx.integer("dim"), dims.size());
  const std::vector<int64_t> sizes = fixed_values(dims);
  const at::Tensor places = at::arange(product(self.type.dims).value()).reshape(sizes);
  const TensorType flat = self.type.with_dims({product(self.type.dims)});
  const LoweredTensor source{ctx.reshaped(self, flat.dims), flat};
  if (!ctx.is_constant("index")) {
    const Dims picked{product(ctx.output_type().dims)};
    const TensorType type = self.type.with_dims(picked);
    const nnapi::OperandId found = emit_gather(ctx, source, 0, computed_places(ctx, places, axis), type);
    return ctx.set_output(ctx.reshaped({found, type}, ctx.output_type().dims));
  }
  at::Tensor index = checked_indices(ctx, ctx.constant("index"), dims[static_cast<size_t>(axis)]);
  if (index.dim() == 0) index = index.unsqueeze(0);
  at::Tensor cut = places;  // gather reads no further than the index reaches along the other axes
  for (int64_t i = 0; i < index.dim(); ++i) {
    if (i != axis) cut = cut.narrow(i, 0, index.size(i));
  }
  const nnapi::OperandId indices = ctx.constant_operand(cut.gather(axis, index));
  const TensorType picked = self.type.with_dims(to_dims(index.sizes().vec()));
  ctx.set_output(ctx.reshaped({emit_gather(ctx, source, 0, indices, picked), picked}, ctx.output_type().dims));
}

// The shifts of roll, for each axis; all axes count as one if none is named.
struct Rotation {
  bool is_flat = false;
  std::vector<std::pair<size_t, int64_t>> shifts;
};

Rotation read_rotation(const OpArguments& args, const TensorType& self) {
  const std::vector<int64_t> shifts = args.integers("shifts");
  const std::vector<int64_t> axes = args.integers("dims");
  Rotation rotation;
  rotation.is_flat = axes.empty();
  args.require(shifts.size() == (rotation.is_flat ? 1 : axes.size()),
               fmt::format("{} shifts along {} axes", shifts.size(), axes.size()), "as many shifts as axes");
  for (size_t i = 0; i < shifts.size(); ++i) {
    const auto axis = rotation.is_flat ? 0 : static_cast<size_t>(checked_axis(args, axes[i], self.rank()));
    rotation.shifts.emplace_back(axis, shifts[i]);
  }
  return rotation;
}

std::vector<ValueType> roll_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_rank(args, self, 1, kHighestRank);
  (void)read_rotation(args, self);
  return {self};
}

nnapi::OperandId emit_part(OpContext& ctx, const LoweredTensor& self, size_t axis, const Dim& begin, const Dim& end) {
  Dims begins(self.type.rank(), Dim(0));
  Dims ends = self.type.dims;
  begins[axis] = begin;
  ends[axis] = end;
  return ctx.sliced(self, begins, ends, Dims(self.type.rank(), Dim(1)));
}

// The elements that are shifted out come back at the other end.
nnapi::OperandId emit_rotation(OpContext& ctx, const LoweredTensor& self, size_t axis, int64_t shift) {
  const Dim& size = self.type.dims[axis];
  if (size.is_fixed()) shift = (shift % size.value() + size.value()) % size.value();
  if (shift == 0) return self.id;
  const Dim border = shift < 0 ? Dim(-shift) : size - Dim(shift);  // a flexible size has more elements than the shift
  const nnapi::OperandId back = emit_part(ctx, self, axis, border, size);
  const nnapi::OperandId front = emit_part(ctx, self, axis, Dim(0), border);
  return ctx.emit_to(OperationCode::CONCATENATION, {back, front, ctx.builder().int32(static_cast<int64_t>(axis))},
                     self.type);
}

void lower_roll(OpContext& ctx) {
  LoweredTensor self = ctx.operand("self");
  const Dims dims = self.type.dims;
  const Rotation rotation = read_rotation(ctx, self.type);
  if (rotation.is_flat) {
    self.id = ctx.reshaped(self, {product(dims)});
    self.type.dims = {product(dims)};
  }
  for (const auto& [axis, shift] : rotation.shifts) self.id = emit_rotation(ctx, self, axis, shift);
  ctx.set_output(ctx.reshaped(self, dims));
}

std::vector<ValueType> flip_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_rank(args, self, 1, kHighestRank);
  for (const int64_t axis : args.integers("dims")) (void)checked_axis(args, axis, self.rank());
  return {self};
}

void lower_flip(OpContext& ctx) {
  LoweredTensor self = ctx.operand("self");
  for (const int64_t named : ctx.integers("dims")) {
    const int64_t axis = checked_axis(ctx, named, self.type.rank());
    const Dim& size = self.type.dims[static_cast<size_t>(axis)];
    if (ctx.can_use(OperationCode::REVERSE, 7)) {
      self.id = ctx.emit_to(OperationCode::REVERSE, {self.id, ctx.builder().int32_tensor({Dim(axis)})}, self.type);
      continue;
    }
    ctx.require(size.is_fixed(), "a flip of a flexible size", "a fixed size",
                "give every size of the input with --input, or use --feature-level 7");
    std::vector<int64_t> indices(static_cast<size_t>(size.value()));
    std::iota(indices.rbegin(), indices.rend(), 0);
    self.id =
        emit_gather(ctx, self, static_cast<size_t>(axis), ctx.builder().int32_tensor(to_dims(indices)), self.type);
  }
  ctx.set_output(self.id);
}

}  // namespace

OpRules indexing_rules() {
  return {
      {"aten::embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, bool "
       "sparse=False) -> Tensor",
       3, kUncheckedIndices, embedding_type, lower_embedding,
       kUnprovedRows | Memory::kFresh | Index::kRows | Fact::kSizesAreSums},
      {"aten::index_select(Tensor self, int dim, Tensor index) -> Tensor", 3, kUncheckedIndices, index_select_type,
       lower_index_select, kUnprovedRows | Index::kAlongDim | Fact::kSizesAreSums | Fact::kKeepsRankAlongAxis},
      {"aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor", 3,
       "fixed sizes, or an index along one axis alone; a computed index outside the axis: undefined, where PyTorch "
       "raises",
       gather_type, lower_gather, kUnprovedRows | Index::kAlongDim | Fact::kSizesAreSums | Fact::kKeepsRankAlongAxis},
      {"aten::roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor", 2,
       "a flexible axis has to be longer than the shift", roll_type, lower_roll,
       kUnprovedRows | Fact::kSizesAreSums | Fact::kMovesElements | Fact::kKeepsRankAlongAxis},
      {"aten::flip(Tensor self, int[] dims) -> Tensor", 3, "", flip_type, lower_flip,
       kUnprovedRows | Quantised::kKept | Fact::kSizesAreSums | Fact::kMovesElements | Fact::kKeepsRankAlongAxis},
  };
}

}  // namespace nnapi_convert
