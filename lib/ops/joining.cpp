// SPDX-License-Identifier: BSD-3-Clause
// Tensors joined, and repeated.
#include <fmt/format.h>

#include <algorithm>

#include "lib/ops/expression.h"
#include "lib/ops/families.h"
#include "lib/ops/shape_rules.h"
#include "lib/ops/tensor_limits.h"

namespace nnapi_convert {
namespace {

std::string list_name(const OpArguments& args) {
  return args.has("qx") ? "qx" : "tensors";
}

// Returns the dtype to which PyTorch promotes the tensors; for quantised tensors the first one's.
at::ScalarType joined_dtype(const OpArguments& args, const TensorTypes& tensors) {
  at::ScalarType dtype = tensors.front().dtype;
  for (const TensorType& type : tensors) {
    if (type.dtype == dtype) continue;
    args.require(!type.is_quantized() && !tensors.front().is_quantized(),
                 fmt::format("{} and {}", to_text(tensors.front()), to_text(type)), "tensors of equal dtype");
    dtype = c10::promoteTypes(dtype, type.dtype);
  }
  return dtype;
}

// Returns the tensors to join, with the dtype of the result. Leaves out empty tensors, which NNAPI lacks; they add only
// their dtype: those of size 0 along the axis, and those of one axis that PyTorch lets join tensors of any rank.
TensorTypes joined_tensors(const OpArguments& args) {
  const TensorTypes all = args.tensors(list_name(args));
  args.require(!all.empty(), "no tensors to join", "one or more");
  TensorTypes tensors;
  std::copy_if(all.begin(), all.end(), std::back_inserter(tensors), [](const auto& type) { return !is_empty(type); });
  args.require(!tensors.empty(), "empty tensors only", "one that isn't");
  const at::ScalarType dtype = joined_dtype(args, all);
  for (TensorType& type : tensors) type.dtype = dtype;
  return tensors;
}

void require_alike(const OpArguments& args, const TensorTypes& tensors, size_t but_axis) {
  const TensorType& first = tensors.front();
  for (const TensorType& tensor : tensors) {
    const std::string found = fmt::format("{} and {}", to_text(first), to_text(tensor));
    args.require(tensor.rank() == first.rank(), found, "tensors of equal rank");
    for (size_t i = 0; i < first.rank(); ++i) {
      const bool differ = tensor.dims[i].is_fixed() && first.dims[i].is_fixed() && tensor.dims[i] != first.dims[i];
      args.require(i == but_axis || !differ, found, fmt::format("equal sizes but along axis {}", but_axis));
    }
  }
}

std::vector<ValueType> cat_type(const OpArguments& args) {
  const TensorTypes tensors = joined_tensors(args);
  const TensorType& first = tensors.front();
  require_rank(args, first, 1, kHighestRank);
  const auto axis = static_cast<size_t>(checked_axis(args, args.integer("dim"), first.rank()));
  require_alike(args, tensors, axis);
  Dims dims = first.dims;
  for (size_t i = 1; i < tensors.size(); ++i) dims[axis] += tensors[i].dims[axis];
  TensorType type = first.with_dims(dims);
  if (args.has("scale") && !args.is_none("scale")) {
    type.quantization = {args.number("scale"), args.integer("zero_point")};
  }
  return {type};
}

// Returns the operands to join, which must have the scale of the result.
std::vector<nnapi::OperandId> joined_operands(OpContext& ctx, const TensorType& output) {
  std::vector<nnapi::OperandId> inputs;
  for (const LoweredTensor& tensor : ctx.operands(list_name(ctx))) {
    if (is_empty(tensor.type)) continue;
    const bool same = tensor.type.quantization == output.quantization;
    ctx.require(same || ctx.has("qx"), fmt::format("quantised tensors of unequal scales: {}", to_text(tensor.type)),
                to_text(output), "use torch.ao.nn.quantized.FloatFunctional.cat");
    const bool is_kept = tensor.type.is_quantized() || tensor.type.dtype == output.dtype;
    inputs.push_back(is_kept ? tensor.id : cast(Expression(ctx, tensor), output.dtype).id());
  }
  return inputs;
}

void lower_cat_relu(OpContext& ctx) {
  const TensorType output = ctx.output_type();
  std::vector<nnapi::OperandId> inputs = joined_operands(ctx, output);
  ctx.require(inputs.size() > 1 || output.quantization == joined_tensors(ctx)[0].quantization,
              "one tensor with another scale than its result", "equal scales");
  if (inputs.size() == 1) return ctx.emit(OperationCode::RELU, inputs);
  inputs.push_back(ctx.builder().int32(checked_axis(ctx, ctx.integer("dim"), output.rank())));
  ctx.emit(OperationCode::RELU, {ctx.emit_to(OperationCode::CONCATENATION, inputs, output)});
}

void lower_cat(OpContext& ctx) {
  const TensorType output = ctx.output_type();
  std::vector<nnapi::OperandId> inputs = joined_operands(ctx, output);
  if (inputs.size() == 1) {
    ctx.require(output.quantization == joined_tensors(ctx)[0].quantization,
                "one tensor with another scale than its result", "equal scales");
    return ctx.set_output(inputs[0]);
  }
  inputs.push_back(ctx.builder().int32(checked_axis(ctx, ctx.integer("dim"), output.rank())));
  ctx.emit(OperationCode::CONCATENATION, inputs);
}

std::vector<ValueType> stack_type(const OpArguments& args) {
  const TensorTypes tensors = joined_tensors(args);
  const TensorType& first = tensors.front();
  require_alike(args, tensors, first.rank());
  Dims dims = first.dims;
  const int64_t axis = checked_axis(args, args.integer("dim"), first.rank() + 1);
  dims.insert(dims.begin() + axis, Dim(static_cast<int64_t>(tensors.size())));
  require_rank(args, first.with_dims(dims), 1, kHighestRank);
  return {first.with_dims(dims)};
}

// stack: joins the tensors along the axis before which the new axis comes, which gives the elements the right order. A
// new last axis is added to each tensor before.
void lower_stack(OpContext& ctx) {
  const TensorType output = ctx.output_type();
  std::vector<nnapi::OperandId> inputs = joined_operands(ctx, output);
  const TensorType part = joined_tensors(ctx).front();
  const auto axis = static_cast<size_t>(checked_axis(ctx, ctx.integer("dim"), output.rank()));
  Dims part_dims = part.dims;
  if (axis == part.rank()) {
    part_dims.emplace_back(1);
    for (nnapi::OperandId& id : inputs) id = ctx.reshaped({id, part}, part_dims);
  }
  if (inputs.size() == 1) return ctx.set_output(ctx.reshaped({inputs[0], part.with_dims(part_dims)}, output.dims));
  Dims joined = part_dims;
  joined[axis] *= Dim(static_cast<int64_t>(inputs.size()));
  inputs.push_back(ctx.builder().int32(static_cast<int64_t>(axis)));
  const TensorType type = output.with_dims(joined);
  ctx.set_output(ctx.reshaped({ctx.emit_to(OperationCode::CONCATENATION, inputs, type), type}, output.dims));
}

// Appends TILE to `dims`, each a multiple of the input's size; nothing where all are equal.
nnapi::OperandId emit_tile(OpContext& ctx, const LoweredTensor& self, const Dims& multiples) {
  Dims dims;
  for (size_t i = 0; i < multiples.size(); ++i) dims.push_back(self.type.dims[i] * multiples[i]);
  if (dims == self.type.dims) return self.id;
  return ctx.emit_to(OperationCode::TILE, {self.id, ctx.builder().int32_tensor(multiples)}, self.type.with_dims(dims));
}

Dims with_rank(Dims dims, size_t rank) {
  dims.insert(dims.begin(), rank - dims.size(), Dim(1));
  return dims;
}

// Returns the shape that expand() asks for; -1 keeps the tensor's size.
Dims expanded(const OpArguments& args, const TensorType& self) {
  if (args.has("other")) return args.tensor("other").dims;
  Dims wanted = args.sizes("size");
  args.require(wanted.size() >= self.rank(), fmt::format("{} expanded to {}", to_text(self), to_text(wanted)),
               "as many sizes as axes, or more");
  const Dims own = with_rank(self.dims, wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == Dim(-1)) wanted[i] = own[i];
  }
  return wanted;
}

std::vector<ValueType> expand_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  const Dims wanted = expanded(args, self);
  require_rank(args, self.with_dims(wanted), 0, kHighestRank);
  const Dims own = with_rank(self.dims, wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    args.require(own[i] == Dim(1) || own[i] == wanted[i],
                 fmt::format("{} expanded to {}", to_text(self), to_text(wanted)), "sizes of 1 where sizes differ",
                 wanted[i].is_fixed() && own[i].is_fixed() ? "" : "give every size of the input with --input");
  }
  return {self.with_dims(wanted)};
}

void lower_expand(OpContext& ctx) {
  const LoweredTensor self = ctx.operand("self");
  const Dims wanted = ctx.output_type().dims;
  if (wanted == self.type.dims) return ctx.set_output(self.id);
  const Dims own = with_rank(self.type.dims, wanted.size());
  Dims multiples;
  for (size_t i = 0; i < wanted.size(); ++i) multiples.push_back(own[i] == Dim(1) ? wanted[i] : Dim(1));
  ctx.set_output(emit_tile(ctx, {ctx.reshaped(self, own), self.type.with_dims(own)}, multiples));
}

Dims multiples_of(const OpArguments& args, const TensorType& self) {
  Dims multiples = args.sizes(args.has("repeats") ? "repeats" : "dims");
  if (args.has("dims") && multiples.size() < self.rank()) multiples = with_rank(multiples, self.rank());
  args.require(multiples.size() >= self.rank(), fmt::format("{} repeats of {}", multiples.size(), to_text(self)),
               "as many as axes, or more");
  return multiples;
}

std::vector<ValueType> repeat_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  const Dims multiples = multiples_of(args, self);
  Dims dims = with_rank(self.dims, multiples.size());
  for (size_t i = 0; i < dims.size(); ++i) dims[i] *= multiples[i];
  require_positive(args, dims);
  require_rank(args, self.with_dims(dims), 0, kHighestRank);
  return {self.with_dims(dims)};
}

void lower_repeat(OpContext& ctx) {
  const LoweredTensor self = ctx.operand("self");
  const Dims multiples = multiples_of(ctx, self.type);
  const Dims own = with_rank(self.type.dims, multiples.size());
  ctx.set_output(emit_tile(ctx, {ctx.reshaped(self, own), self.type.with_dims(own)}, multiples));
}

// Returns the tensor whose axis is repeated: the flat tensor if no axis is given.
TensorType interleaved_source(const OpArguments& args, size_t& axis) {
  const TensorType self = args.tensor("self");
  if (args.is_none("dim")) {
    axis = 0;
    return self.with_dims({product(self.dims)});
  }
  axis = static_cast<size_t>(checked_axis(args, args.integer("dim"), self.rank()));
  return self;
}

std::vector<ValueType> interleave_type(const OpArguments& args) {
  size_t axis = 0;
  TensorType type = interleaved_source(args, axis);
  const int64_t repeats = args.integer("repeats");
  args.require(repeats > 0, fmt::format("repeats = {}", repeats), "1 or more");
  type.dims[axis] *= Dim(repeats);
  return {type};
}

// repeat_interleave: adds an axis of size 1 behind the axis, repeats it, and merges both.
void lower_interleave(OpContext& ctx) {
  const LoweredTensor self = ctx.operand("self");
  size_t axis = 0;
  Dims dims = interleaved_source(ctx, axis).dims;
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, Dim(1));
  Dims multiples(dims.size(), Dim(1));
  multiples[axis + 1] = Dim(ctx.integer("repeats"));
  const nnapi::OperandId tiled = emit_tile(ctx, {ctx.reshaped(self, dims), self.type.with_dims(dims)}, multiples);
  dims[axis + 1] = multiples[axis + 1];
  ctx.set_output(ctx.reshaped({tiled, self.type.with_dims(dims)}, ctx.output_type().dims));
}

}  // namespace

OpRules joining_rules() {
  return {
      {"aten::cat(Tensor[] tensors, int dim=0) -> Tensor", 1, "quint8: equal scales", cat_type, lower_cat,
       row_wise(Rows::kJoined) | Memory::kFresh | Quantised::kKept},
      {"quantized::cat(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor", 1,
       "unequal scales: feature level 3", cat_type, lower_cat, kUnprovedRows},
      {"quantized::cat_relu(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor", 1,
       "unequal scales: feature level 3", cat_type, lower_cat_relu, kUnprovedRows},
      {"aten::stack(Tensor[] tensors, int dim=0) -> Tensor", 1, "quint8: equal scales", stack_type, lower_stack,
       row_wise(Rows::kJoined) | Memory::kFresh},
      {"aten::expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)", 3, "", expand_type,
       lower_expand, kUnprovedRows | Memory::kView | Fact::kSizesAreSums | Fact::kMovesElements},
      {"aten::expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", 3, "", expand_type, lower_expand,
       kUnprovedRows | Fact::kSizesAreSums | Fact::kMovesElements},
      {"aten::broadcast_to(Tensor(a) self, int[] size) -> Tensor(a)", 3, "", expand_type, lower_expand,
       kUnprovedRows | Fact::kMovesElements},
      {"aten::repeat(Tensor self, SymInt[] repeats) -> Tensor", 3, "", repeat_type, lower_repeat,
       kUnprovedRows | Fact::kSizesAreSums | Fact::kMovesElements},
      {"aten::tile(Tensor self, int[] dims) -> Tensor", 3, "", repeat_type, lower_repeat,
       kUnprovedRows | Fact::kMovesElements},
      {"aten::repeat_interleave.self_int(Tensor self, int repeats, int? dim=None, *, int? output_size=None) -> Tensor",
       3, "", interleave_type, lower_interleave, kUnprovedRows | Fact::kSizesByValues | Fact::kCountsByValues},
  };
}

}  // namespace nnapi_convert
