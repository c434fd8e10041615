// SPDX-License-Identifier: BSD-3-Clause
// Tensors of one value whose size depends on the inputs: FILL, or TILE of the value below feature level 4. Those of
// fixed size are constants before they come here.
// Also copy, fill and zero, which write over a tensor and keep its sizes and dtype.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include "lib/ops/expression.h"
#include "lib/ops/families.h"
#include "lib/ops/promotion.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

constexpr int kFillsLevel = 4;

std::vector<ValueType> filled_type(const OpArguments& args, at::ScalarType fallback, const Dims& sizes) {
  const at::ScalarType dtype = args.is_none("dtype") ? fallback : static_cast<at::ScalarType>(args.integer("dtype"));
  args.require(has_operand_code(dtype), "dtype = " + dtype_name(dtype), "float32, int32, int64 or bool");
  const TensorType type{dtype, sizes, {}};
  for (const Dim& size : sizes) {
    args.require(!size.is_fixed() || size.value() >= 0, "size " + size.text(), "sizes that are not negative");
  }
  require_rank(args, type, 1, kHighestRank);
  return {type};
}

std::vector<ValueType> filled_type(const OpArguments& args, at::ScalarType fallback) {
  return filled_type(args, fallback, args.sizes("size"));
}

std::vector<ValueType> float_filled_type(const OpArguments& args) {
  return filled_type(args, at::kFloat);
}

std::vector<ValueType> full_type(const OpArguments& args) {
  return filled_type(args, args.value("fill_value").isInt() ? at::kLong : at::kFloat);
}

// The type of *_like operators: the sizes of another tensor, and its dtype unless another one is given.
std::vector<ValueType> like_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  return filled_type(args, self.dtype, self.dims);
}

// The type of new_* operators: the given sizes, with self's dtype unless another one is given.
std::vector<ValueType> new_type(const OpArguments& args) {
  return filled_type(args, args.tensor("self").dtype);
}

void lower_filled(OpContext& ctx, double value) {
  const TensorType type = ctx.output_type();
  if (type.dtype == at::kBool || !ctx.can_use(OperationCode::FILL, kFillsLevel))
    return filled(ctx, value, type).set_output();
  const nnapi::OperandId number = type.dtype == at::kFloat ? ctx.builder().float32(static_cast<float>(value))
                                                           : ctx.builder().int32(static_cast<int64_t>(value));
  ctx.emit(OperationCode::FILL, {ctx.builder().int32_tensor(type.dims), number});
}

template <int value>
void lower_constant(OpContext& ctx) {
  lower_filled(ctx, value);
}

void lower_full(OpContext& ctx) {
  lower_filled(ctx, ctx.number("fill_value"));
}

// The length of the constant whose first numbers are the result of an arange() that ends at a size of the inputs.
constexpr int64_t kMostCounted = 1 << 14;

int64_t counted_from(const OpArguments& args) {
  return args.has("start") ? args.integer("start") : 0;
}

int64_t counted_by(const OpArguments& args) {
  return args.has("step") ? args.integer("step") : 1;
}

std::vector<ValueType> counted_type(const OpArguments& args) {
  const Dims end = args.sizes("end");
  const int64_t step = counted_by(args);
  args.require(end.size() == 1 && step > 0, fmt::format("step {}", step), "a positive step");
  const Dim count = (end[0] + (step - 1 - counted_from(args))).floor_div(step);
  return filled_type(args, at::kLong, {count});
}

void lower_counted(OpContext& ctx) {
  const TensorType type = ctx.output_type();
  ctx.warn("arange() of a flexible size has a limit at run time", fmt::format("{} elements", kMostCounted));
  const at::Tensor numbers = at::arange(kMostCounted) * counted_by(ctx) + counted_from(ctx);
  const nnapi::OperandId all = ctx.constant_operand(numbers.to(type.dtype));
  ctx.set_output(ctx.sliced({all, {type.dtype, {Dim(kMostCounted)}, {}}}, {0}, type.dims, {1}));
}

std::vector<ValueType> overwritten_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  args.require(!self.is_quantized() && has_operand_code(self.dtype), "a tensor " + to_text(self),
               "float32, int32, int64 or bool");
  return {self};
}

std::vector<ValueType> copied_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  if (!is_number(args, "src")) {
    const TensorType src = args.tensor("src");
    const bool fits = src.rank() <= self.rank() && broadcast(args, self.dims, src.dims) == self.dims;
    args.require(fits, fmt::format("{} written into {}", to_text(src), to_text(self)), "sizes that broadcast to those");
  }
  return overwritten_type(args);
}

void overwrite_with(OpContext& ctx, const char* name) {
  if (is_number(ctx, name)) return filled(ctx, number_value(ctx, name), ctx.output_type()).set_output();
  expand(argument(ctx, name), ctx.output_type().dims).set_output();
}

void lower_copy(OpContext& ctx) {
  overwrite_with(ctx, "src");
}

void lower_fill(OpContext& ctx) {
  overwrite_with(ctx, "value");
}

void lower_zero(OpContext& ctx) {
  filled(ctx, 0, ctx.output_type()).set_output();
}

constexpr const char* kOverwrittenNote = "float32, integers, bool";
const OpTraits kLikeTraits = kElementwise | Memory::kFresh | Fact::kSizesAreSums | Fact::kReadsShapeOnly;
const OpTraits kNewTraits = kUnprovedRows | Memory::kFresh | ResultSizes::kGivenWithExample | Fact::kReadsShapeOnly;
const OpTraits kCountedTraits = kUnprovedRows | Memory::kFresh | ResultSizes::kCounted;
constexpr const char* kCreationNote = "fixed sizes: a constant, feature level 1";

}  // namespace

OpRules creation_rules() {
  return {
      {"aten::zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
       "pin_memory=None) -> Tensor",
       3, kCreationNote, float_filled_type, lower_constant<0>, kUnprovedRows | Memory::kFresh | ResultSizes::kGiven},
      {"aten::ones(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
       "pin_memory=None) -> Tensor",
       3, kCreationNote, float_filled_type, lower_constant<1>, kUnprovedRows | Memory::kFresh | ResultSizes::kGiven},
      {"aten::full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? "
       "device=None, bool? pin_memory=None) -> Tensor",
       3, kCreationNote, full_type, lower_full, kUnprovedRows | Memory::kFresh | ResultSizes::kGivenWithNumber},
      {"aten::zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
       "pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
       3, kCreationNote, like_type, lower_constant<0>, kLikeTraits},
      {"aten::ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
       "pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
       3, kCreationNote, like_type, lower_constant<1>, kLikeTraits},
      {"aten::full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? "
       "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
       3, kCreationNote, like_type, lower_full, kLikeTraits},
      {"aten::new_zeros(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
       "device=None, bool? pin_memory=None) -> Tensor",
       3, kCreationNote, new_type, lower_constant<0>, kNewTraits},
      {"aten::new_ones(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
       "device=None, bool? pin_memory=None) -> Tensor",
       3, kCreationNote, new_type, lower_constant<1>, kNewTraits},
      {"aten::new_full(Tensor self, SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, "
       "Device? device=None, bool? pin_memory=None) -> Tensor",
       3, kCreationNote, new_type, lower_full, kNewTraits},
      {"aten::arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
       "pin_memory=None) -> Tensor",
       3, kCreationNote, counted_type, lower_counted, kCountedTraits},
      {"aten::arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? "
       "device=None, bool? pin_memory=None) -> Tensor",
       3, kCreationNote, counted_type, lower_counted, kCountedTraits},
      {"aten::arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? "
       "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
       3, kCreationNote, counted_type, lower_counted, kCountedTraits},
      {"aten::copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor", 1, kOverwrittenNote, copied_type,
       lower_copy, kUnprovedRows | Fact::kOverwrites},
      {"aten::fill.Scalar(Tensor self, Scalar value) -> Tensor", 1, kOverwrittenNote, overwritten_type, lower_fill,
       kUnprovedRows | Fact::kOverwrites | Fact::kFills},
      {"aten::fill.Tensor(Tensor self, Tensor value) -> Tensor", 1, kOverwrittenNote, overwritten_type, lower_fill,
       kUnprovedRows | Fact::kOverwrites | Fact::kFills},
      {"aten::zero(Tensor self) -> Tensor", 1, kOverwrittenNote, overwritten_type, lower_zero,
       kUnprovedRows | Fact::kOverwrites | Fact::kFills},
  };
}

}  // namespace nnapi_convert
