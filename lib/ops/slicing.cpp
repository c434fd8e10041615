// SPDX-License-Identifier: BSD-3-Clause
// Parts of tensors along an axis.
#include <fmt/format.h>

#include <algorithm>

#include "lib/ops/families.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

// A range of indices along an axis, with begin and end inside it.
struct Range {
  size_t axis = 0;
  Dim begin, end;
  int64_t step = 1;

  Dim length() const { return (end - begin + Dim(step - 1)).floor_div(step); }
};

const Dim& size_at(const TensorType& type, size_t axis) {
  return type.dims[axis];
}

size_t axis_of(const OpArguments& args, const TensorType& self) {
  return static_cast<size_t>(checked_axis(args, args.integer("dim"), self.rank()));
}

// Returns a slice's bound. PyTorch counts negative bounds from the end and clamps bounds to the axis. A bound of a
// flexible axis is taken to lie inside it: NNAPI checks that when the model is built on the device.
Dim bound(const OpArguments& args, const std::string& name, const Dim& size, const Dim& absent) {
  if (args.is_none(name)) return absent;
  const Dims found = args.sizes(name);
  args.require(found.size() == 1, fmt::format("argument {} has {} numbers", name, found.size()), "one");
  const auto index = found[0].fixed_value();
  if (!index && found[0].falls_with_sizes()) {
    args.require(found[0].is_negative(), fmt::format("{} {} may be negative or not", name, found[0].text()),
                 "one of both for all sizes", "give every size of the input with --input");
    return size + found[0];
  }
  if (!index) return found[0];
  if (*index >= INT32_MAX) return size;
  if (!size.is_fixed()) return *index < 0 ? size + Dim(*index) : Dim(*index);
  return Dim(std::min(size.value(), std::max<int64_t>(0, *index < 0 ? *index + size.value() : *index)));
}

Range slice_range(const OpArguments& args, const TensorType& self) {
  const size_t axis = axis_of(args, self);
  const Dim& size = size_at(self, axis);
  const int64_t step = args.integer("step");
  args.require(step > 0, fmt::format("a step of {}", step), "1 or more");
  return {axis, bound(args, "start", size, Dim(0)), bound(args, "end", size, size), step};
}

TensorType ranged_type(const OpArguments& args, const TensorType& self, const Range& range) {
  Dims dims = self.dims;
  dims[range.axis] = range.length();
  require_positive(args, dims);
  return self.with_dims(dims);
}

// Appends the operation that takes the range; none if the range is the whole tensor.
nnapi::OperandId emit_range(OpContext& ctx, const LoweredTensor& self, const Range& range) {
  Dims begin(self.type.rank(), Dim(0));
  Dims end = self.type.dims;
  Dims steps(self.type.rank(), Dim(1));
  begin[range.axis] = range.begin;
  end[range.axis] = range.end;
  steps[range.axis] = Dim(range.step);
  return ctx.sliced(self, begin, end, steps);
}

std::vector<ValueType> slice_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_rank(args, self, 1, kHighestRank);
  return {ranged_type(args, self, slice_range(args, self))};
}

void lower_slice(OpContext& ctx) {
  const LoweredTensor self = ctx.operand("self");
  ctx.set_output(emit_range(ctx, self, slice_range(ctx, self.type)));
}

Range narrow_range(const OpArguments& args, const TensorType& self) {
  const size_t axis = axis_of(args, self);
  const Dim begin = bound(args, "start", size_at(self, axis), Dim(0));
  return {axis, begin, begin + args.sizes("length").at(0), 1};
}

std::vector<ValueType> narrow_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_rank(args, self, 1, kHighestRank);
  return {ranged_type(args, self, narrow_range(args, self))};
}

void lower_narrow(OpContext& ctx) {
  const LoweredTensor self = ctx.operand("self");
  ctx.set_output(emit_range(ctx, self, narrow_range(ctx, self.type)));
}

Range selected(const OpArguments& args, const TensorType& self) {
  const size_t axis = axis_of(args, self);
  const Dim& size = size_at(self, axis);
  const int64_t index = args.integer("index");
  args.require(!size.is_fixed() || (index < size.value() && index >= -size.value()),
               fmt::format("index {} of an axis of {}", index, size.text()), "an index inside the axis");
  const Dim begin = index < 0 ? size + Dim(index) : Dim(index);
  return {axis, begin, begin + Dim(1), 1};
}

TensorType without_axis(const TensorType& type, size_t axis) {
  Dims dims = type.dims;
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  return type.with_dims(dims);
}

std::vector<ValueType> select_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_rank(args, self, 1, kHighestRank);
  return {without_axis(self, selected(args, self).axis)};
}

void lower_select(OpContext& ctx) {
  const LoweredTensor self = ctx.operand("self");
  const Range range = selected(ctx, self.type);
  ctx.set_output(ctx.reshaped({emit_range(ctx, self, range), ranged_type(ctx, self.type, range)},
                              without_axis(self.type, range.axis).dims));
}

// Returns the ranges of consecutive parts with these lengths.
std::vector<Range> consecutive(size_t axis, const Dims& lengths) {
  std::vector<Range> ranges;
  Dim begin(0);
  for (const Dim& length : lengths) {
    ranges.push_back({axis, begin, begin + length, 1});
    begin = ranges.back().end;
  }
  return ranges;
}

// Returns the lengths of parts of `length` each; the last one may be shorter.
Dims equal_lengths(int64_t size, int64_t length) {
  Dims lengths;
  for (int64_t begin = 0; begin < size; begin += length) lengths.emplace_back(std::min(length, size - begin));
  return lengths;
}

int64_t fixed_size(const OpArguments& args, const TensorType& self, size_t axis) {
  const Dim& size = size_at(self, axis);
  args.require(size.is_fixed(), fmt::format("axis {} of flexible size {}", axis, size.text()), "a fixed size",
               "give every size of the input with --input");
  return size.value();
}

Dims split_lengths(const OpArguments& args, const TensorType& self, size_t axis) {
  const std::vector<int64_t> sizes = args.integers(args.has("split_sizes") ? "split_sizes" : "split_size");
  if (args.input(args.has("split_sizes") ? "split_sizes" : "split_size")->type()->kind() == c10::TypeKind::IntType) {
    args.require(sizes[0] > 0, fmt::format("split_size = {}", sizes[0]), "1 or more");
    return equal_lengths(fixed_size(args, self, axis), sizes[0]);
  }
  const Dims lengths = to_dims(sizes);
  Dim total(0);
  for (const Dim& length : lengths) total += length;
  args.require(total == size_at(self, axis), fmt::format("split_sizes {} of {}", to_text(lengths), to_text(self)),
               "sizes that add up to the axis");
  return lengths;
}

Dims chunk_lengths(const OpArguments& args, const TensorType& self, size_t axis) {
  const int64_t size = fixed_size(args, self, axis);
  const int64_t chunks = args.integer("chunks");
  args.require(chunks > 0, fmt::format("chunks = {}", chunks), "1 or more");
  return equal_lengths(size, (size + chunks - 1) / chunks);
}

// Returns the lengths of tensor_split's sections: as many as asked for; the first ones are longer by one.
Dims section_lengths(const OpArguments& args, const TensorType& self, size_t axis) {
  const int64_t size = fixed_size(args, self, axis);
  const int64_t sections = args.integer("sections");
  args.require(sections > 0 && sections <= size, fmt::format("{} sections of {}", sections, to_text(self)),
               "1 or more, and no empty ones");
  Dims lengths;
  for (int64_t i = 0; i < sections; ++i) lengths.emplace_back(size / sections + (i < size % sections ? 1 : 0));
  return lengths;
}

// Returns the lengths of the parts before, between and after indices.
Dims index_lengths(const OpArguments& args, const TensorType& self, size_t axis) {
  const Dim& size = size_at(self, axis);
  const std::vector<int64_t> indices = args.integers("indices");
  Dims lengths;
  int64_t last = 0;
  for (const int64_t index : indices) {
    args.require(index > last && (!size.is_fixed() || index < size.value()),
                 fmt::format("indices ({}) of {}", fmt::join(indices, ", "), to_text(self)),
                 "numbers that rise, inside the axis: no empty parts");
    lengths.emplace_back(index - last);
    last = index;
  }
  lengths.push_back(size - Dim(last));
  return lengths;
}

Dims unbind_lengths(const OpArguments& args, const TensorType& self, size_t axis) {
  return Dims(static_cast<size_t>(fixed_size(args, self, axis)), Dim(1));
}

using LengthRule = Dims (*)(const OpArguments&, const TensorType&, size_t axis);

template <LengthRule lengths_of, bool drops_axis>
std::vector<ValueType> parts_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_rank(args, self, 1, kHighestRank);
  const size_t axis = axis_of(args, self);
  TensorTypes types;
  for (const Range& range : consecutive(axis, lengths_of(args, self, axis))) {
    const TensorType part = ranged_type(args, self, range);
    types.push_back(drops_axis ? without_axis(part, axis) : part);
  }
  return {types};
}

// True if something reads every element of the list that the node makes: then one SPLIT makes them all.
bool all_are_read(const TorchNode& node) {
  const auto& uses = node.output()->uses();
  return std::any_of(uses.begin(), uses.end(), [](const torch::jit::Use& use) {
    if (use.user->kind() != c10::prim::ListUnpack) return use.user->kind() != c10::aten::__getitem__;
    const auto outputs = use.user->outputs();
    return std::all_of(outputs.begin(), outputs.end(), [](const TorchValue* value) { return value->hasUses(); });
  });
}

std::vector<nnapi::OperandId> emit_split(OpContext& ctx, const LoweredTensor& self, const std::vector<Range>& ranges) {
  const nnapi::Operand part = to_operand(ranged_type(ctx, self.type, ranges[0]));
  const nnapi::OperandId axis = ctx.builder().int32(static_cast<int64_t>(ranges[0].axis));
  const nnapi::OperandId count = ctx.builder().int32(static_cast<int64_t>(ranges.size()));
  return ctx.builder().add(OperationCode::SPLIT, {self.id, axis, count},
                           std::vector<nnapi::Operand>(ranges.size(), part));
}

template <LengthRule lengths_of, bool drops_axis>
void lower_parts(OpContext& ctx) {
  const LoweredTensor self = ctx.operand("self");
  const size_t axis = axis_of(ctx, self.type);
  const Dims lengths = lengths_of(ctx, self.type, axis);
  const std::vector<Range> ranges = consecutive(axis, lengths);
  const bool are_equal =
      std::all_of(lengths.begin(), lengths.end(), [&](const Dim& length) { return length == lengths[0]; });
  std::vector<nnapi::OperandId> ids;
  if (ctx.can_use(OperationCode::SPLIT, 3) && are_equal && ranges.size() > 1 && all_are_read(ctx.node())) {
    ids = emit_split(ctx, self, ranges);
  } else {
    for (const Range& range : ranges) ids.push_back(emit_range(ctx, self, range));
  }
  for (size_t i = 0; drops_axis && i < ids.size(); ++i) {
    const TensorType part = ranged_type(ctx, self.type, ranges[i]);
    ids[i] = ctx.reshaped({ids[i], part}, without_axis(part, axis).dims);
  }
  ctx.set_list_output(std::move(ids));
}

constexpr const char* kFixedNote = "a fixed size along the axis";

}  // namespace

OpRules slicing_rules() {
  return {
      {"aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> "
       "Tensor(a)",
       2, "", slice_type, lower_slice,
       row_wise(Rows::kSliced) | Memory::kView | ResultSizes::kSliced | Fact::kMovesElements},
      {"aten::narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a)", 2, "", narrow_type, lower_narrow,
       row_wise(Rows::kOtherAxes) | Memory::kView | Index::kStart | Fact::kMovesElements},
      {"aten::select.int(Tensor(a) self, int dim, int index) -> Tensor(a)", 2, "", select_type, lower_select,
       row_wise(Rows::kOtherAxes) | Memory::kView | Index::kElement | Fact::kMovesElements},
      {"aten::split.Tensor(Tensor(a -> *) self, int split_size, int dim=0) -> Tensor(a)[]", 2, kFixedNote,
       parts_type<split_lengths, false>, lower_parts<split_lengths, false>,
       row_wise(Rows::kOtherAxes) | Fact::kMovesElements},
      {"aten::split.sizes(Tensor(a -> *) self, int[] split_size, int dim=0) -> Tensor(a)[]", 2, "",
       parts_type<split_lengths, false>, lower_parts<split_lengths, false>,
       row_wise(Rows::kOtherAxes) | Fact::kMovesElements},
      {"aten::split_with_sizes(Tensor(a -> *) self, int[] split_sizes, int dim=0) -> Tensor(a)[]", 2, "",
       parts_type<split_lengths, false>, lower_parts<split_lengths, false>,
       row_wise(Rows::kOtherAxes) | Fact::kMovesElements},
      {"aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]", 2, kFixedNote,
       parts_type<chunk_lengths, false>, lower_parts<chunk_lengths, false>,
       row_wise(Rows::kOtherAxes) | Fact::kMovesElements},
      {"aten::tensor_split.sections(Tensor(a -> *) self, int sections, int dim=0) -> Tensor(a)[]", 2, kFixedNote,
       parts_type<section_lengths, false>, lower_parts<section_lengths, false>, kUnprovedRows | Fact::kSizesByValues},
      {"aten::tensor_split.indices(Tensor(a -> *) self, int[] indices, int dim=0) -> Tensor(a)[]", 2,
       "indices that rise, counted from the front", parts_type<index_lengths, false>, lower_parts<index_lengths, false>,
       kUnprovedRows | Fact::kSizesByValues},
      {"aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", 2, kFixedNote,
       parts_type<unbind_lengths, true>, lower_parts<unbind_lengths, true>,
       row_wise(Rows::kOtherAxes) | Fact::kMovesElements},
  };
}

}  // namespace nnapi_convert
