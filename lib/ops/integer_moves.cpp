// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/integer_moves.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "lib/format/operation_table.h"
#include "lib/nnapi/api_level.h"
#include "lib/ops/expression.h"
#include "lib/ops/operand_range.h"
#include "lib/types/constant_tensor.h"

namespace nnapi_convert {
namespace {

using Moved = std::optional<nnapi::OperandId>;
using nnapi::OperandId;

constexpr int kPicksIntegers = 3;       // GATHER, EXPAND_DIMS, SELECT
constexpr int kCalculatesIntegers = 4;  // ADD, SUB, MUL, DIV
constexpr int kReshapesIntegers = 6;

bool is_arithmetic(OperationCode code) {
  return has_trait(code, OperationTrait::kArithmetic);
}

// Returns how many of the operation's first inputs are tensors of numbers.
size_t number_count(OperationCode code, size_t inputs) {
  if (code == OperationCode::CONCATENATION) return inputs - 1;
  return is_arithmetic(code) ? 2 : 1;
}

const Dims& dims_of(OpContext& ctx, OperandId id) {
  return ctx.builder().model().at(id).dims;
}

LoweredTensor integers(OpContext& ctx, OperandId id) {
  return {id, {at::kInt, dims_of(ctx, id), {}}};
}

bool are_exact_in_float32(OpContext& ctx, OperandId id) {
  const auto range = operand_range(ctx, id);
  return range && range->is_exact_in_float32();
}

// Returns the operand as float32: a converted constant, or the result of a CAST.
OperandId as_floats(OpContext& ctx, OperandId id) {
  const nnapi::Operand operand = ctx.builder().model().at(id);
  if (const nnapi::Constant* constant = operand.constant()) {
    return ctx.constant_operand(to_tensor(*constant).to(at::kFloat));
  }
  if (const Dims* numbers = operand.ints(); numbers != nullptr && all_fixed(*numbers)) {
    const at::Tensor values = at::tensor(fixed_values(*numbers));
    return ctx.constant_operand(values.reshape(fixed_values(operand.dims)).to(at::kFloat));
  }
  const TensorType type{at::kFloat, operand.dims, {}};
  return ctx.builder().add(OperationCode::CAST, {id}, to_operand(type));
}

OperandId emit_as_floats(OpContext& ctx, OperationCode code, std::vector<OperandId> inputs, const TensorType& type) {
  const size_t count = number_count(code, inputs.size());
  for (size_t i = 0; i < count; ++i) inputs[i] = as_floats(ctx, inputs[i]);
  const OperandId result = ctx.emit_to(code, std::move(inputs), {at::kFloat, type.dims, {}});
  return ctx.builder().add(OperationCode::CAST, {result}, to_operand(type));
}

// Divides as NNAPI's DIV of integers, which rounds down. Adding 1/2 to the dividend leaves the quotient between the
// same whole numbers, at least 1/2 divided by the divisor away from both: a division that isn't rounded correctly
// doesn't change the result.
OperandId quotient_as_floats(OpContext& ctx, const std::vector<OperandId>& inputs, const TensorType& type) {
  const auto floats = [&](OperandId id) {
    return Expression(ctx, {as_floats(ctx, id), {at::kFloat, dims_of(ctx, id), {}}});
  };
  const Expression result = floor((floats(inputs[0]) + 0.5) / floats(inputs[1]));
  return ctx.builder().add(OperationCode::CAST, {result.id()}, to_operand(type));
}

bool has_constant_sizes(OpContext& ctx, const std::vector<OperandId>& inputs, size_t count) {
  return std::all_of(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(count),
                     [&](OperandId id) { return all_fixed(dims_of(ctx, id)); });
}

// Picks elements of an axis by a constant table of places; the table's axes take the axis's place.
LoweredTensor picked(OpContext& ctx, const LoweredTensor& x, size_t axis, const at::Tensor& places) {
  Dims dims(x.type.dims.begin(), x.type.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  for (const int64_t size : places.sizes()) dims.emplace_back(size);
  dims.insert(dims.end(), x.type.dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.type.dims.end());
  const TensorType type = x.type.with_dims(dims);
  const OperandId axis_id = ctx.builder().int32(static_cast<int64_t>(axis));
  return {ctx.emit_to(OperationCode::GATHER, {x.id, axis_id, ctx.constant_operand(places)}, type), type};
}

// Joins the inputs along an axis by SELECT: each input is spread over the whole axis, and a constant mask says where it
// counts.
Moved joined(OpContext& ctx, const std::vector<OperandId>& inputs, const TensorType& type) {
  const size_t count = inputs.size() - 1;
  if (ctx.feature_level() < kPicksIntegers || !has_constant_sizes(ctx, inputs, count)) return std::nullopt;
  const auto axis = static_cast<size_t>(ctx.builder().model().at(inputs.back()).ints()->at(0).value());
  const int64_t size = type.dims[axis].value();
  std::vector<int64_t> along(type.rank(), 1);
  along[axis] = size;
  int64_t begin = 0;
  std::optional<LoweredTensor> result;
  for (size_t i = 0; i < count; ++i) {
    const int64_t length = dims_of(ctx, inputs[i])[axis].value();
    if (length == 0) continue;
    const at::Tensor places = (at::arange(size) - begin).clamp(0, length - 1);
    const LoweredTensor part = picked(ctx, integers(ctx, inputs[i]), axis, places);
    const at::Tensor is_here = at::arange(size).ge(begin).reshape(along).expand(fixed_values(type.dims));
    result = !result ? part
                     : LoweredTensor{
                           ctx.emit_to(OperationCode::SELECT,
                                       {ctx.constant_operand(is_here.contiguous()), part.id, result->id}, part.type),
                           part.type};
    begin += length;
  }
  return result ? Moved(result->id) : std::nullopt;
}

// Returns for each axis how many of the new axes, in order, it becomes; nothing if an axis merges with others.
std::optional<std::vector<size_t>> axes_made_of(const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
  std::vector<size_t> counts;
  size_t next = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    int64_t size = 1;
    size_t count = 0;
    const bool is_last = i + 1 == from.size();
    while (next < to.size() && (count == 0 || size < from[i] || (is_last && to[next] == 1))) {
      size *= to[next++];
      ++count;
    }
    if (size != from[i] || count == 0) return std::nullopt;
    counts.push_back(count);
  }
  return next == to.size() ? std::optional(counts) : std::nullopt;
}

// Returns the places in `to` of its new axes, if `to` is `from` with new axes of size 1; else nothing.
std::optional<std::vector<size_t>> new_axes(const Dims& from, const Dims& to) {
  std::vector<size_t> added;
  size_t next = 0;
  for (size_t i = 0; i < to.size(); ++i) {
    if (next < from.size() && from[next] == to[i]) {
      ++next;
    } else if (to[i] == Dim(1)) {
      added.push_back(i);
    } else {
      return std::nullopt;
    }
  }
  return next == from.size() ? std::optional(added) : std::nullopt;
}

// Returns the operand that became `id` only by adding axes of size 1 (EXPAND_DIMS).
OperandId before_new_axes(const nnapi::Model& model, OperandId id) {
  for (auto operation = model.operations.rbegin(); operation != model.operations.rend(); ++operation) {
    if (operation->outputs[0] == id && operation->code == OperationCode::EXPAND_DIMS) id = operation->inputs[0];
  }
  return id;
}

// Moves the integers without merging axes; nothing if that is impossible.
Moved unfolded(OpContext& ctx, OperandId input, const TensorType& type) {
  if (ctx.feature_level() < kPicksIntegers) return std::nullopt;
  LoweredTensor result = integers(ctx, before_new_axes(ctx.builder().model(), input));
  const Dims target = to_operand(type).dims;
  if (const auto added = new_axes(result.type.dims, target)) {
    for (const size_t axis : *added) {
      TensorType wider = result.type;
      wider.dims.insert(wider.dims.begin() + static_cast<std::ptrdiff_t>(axis), Dim(1));
      const OperandId axis_id = ctx.builder().int32(static_cast<int64_t>(axis));
      result = {ctx.emit_to(OperationCode::EXPAND_DIMS, {result.id, axis_id}, wider), wider};
    }
    return result.id;
  }
  if (!all_fixed(result.type.dims) || !all_fixed(target)) return std::nullopt;
  const std::vector<int64_t> sizes = fixed_values(target);
  const auto counts = axes_made_of(fixed_values(result.type.dims), sizes);
  if (!counts) return std::nullopt;
  size_t axis = 0;
  for (const size_t count : *counts) {
    const auto first = sizes.begin() + static_cast<std::ptrdiff_t>(axis);
    const std::vector<int64_t> shape(first, first + static_cast<std::ptrdiff_t>(count));
    const int64_t size = result.type.dims[axis].value();
    if (count > 1) result = picked(ctx, result, axis, at::arange(size).reshape(shape));
    axis += count;
  }
  return result.id;
}

// Slices by GATHERs of the places that the steps along each axis lead to.
Moved stepped(OpContext& ctx, const std::vector<OperandId>& inputs) {
  if (ctx.feature_level() < kPicksIntegers || !has_constant_sizes(ctx, inputs, 1)) return std::nullopt;
  const auto numbers = [&](size_t i) { return *ctx.builder().model().at(inputs[i]).ints(); };
  const Dims begin = numbers(1), end = numbers(2), steps = numbers(3);
  if (!all_fixed(begin) || !all_fixed(end)) return std::nullopt;
  LoweredTensor result = integers(ctx, inputs[0]);
  for (size_t axis = 0; axis < begin.size(); ++axis) {
    const bool is_whole = begin[axis] == Dim(0) && end[axis] == result.type.dims[axis] && steps[axis] == Dim(1);
    if (is_whole) continue;
    if (steps[axis].value() < 1) return std::nullopt;
    result = picked(ctx, result, axis, at::arange(begin[axis].value(), end[axis].value(), steps[axis].value()));
  }
  return result.id;
}

// Transposes by a GATHER of the places in the flat tensor.
Moved turned(OpContext& ctx, const std::vector<OperandId>& inputs, const TensorType& type) {
  constexpr int64_t kMostPlaces = int64_t{1} << 20;
  if (ctx.feature_level() < kReshapesIntegers || !all_fixed(type.dims)) return std::nullopt;
  const int64_t count = product(type.dims).value();
  if (count > kMostPlaces) return std::nullopt;
  const LoweredTensor x = integers(ctx, inputs[0]);
  const std::vector<int64_t> order = fixed_values(*ctx.builder().model().at(inputs[1]).ints());
  const at::Tensor places = at::arange(count).reshape(fixed_values(x.type.dims)).permute(order).flatten();
  const Dims flat{Dim(count)};
  const LoweredTensor moved = picked(ctx, {ctx.reshaped(x, flat), x.type.with_dims(flat)}, 0, places);
  return ctx.reshaped(moved, type.dims);
}

// Moves both halves of each integer as float32, which holds them exactly, and puts them together again.
OperandId moved_in_halves(OpContext& ctx, OperationCode code, const std::vector<OperandId>& inputs,
                          const TensorType& type) {
  constexpr double kHalf = 1 << 12;
  std::vector<OperandId> high = inputs, low = inputs;
  const size_t count = number_count(code, inputs.size());
  for (size_t i = 0; i < count; ++i) {
    const Expression x(ctx, integers(ctx, inputs[i]));
    const Expression above = x / x.same(kHalf);  // DIV of integers rounds down
    high[i] = as_floats(ctx, above.id());
    low[i] = as_floats(ctx, (x - above * kHalf).id());
  }
  const auto moved = [&](std::vector<OperandId> halves) {
    const OperandId floats = ctx.emit_to(code, std::move(halves), {at::kFloat, type.dims, {}});
    const TensorType integer{at::kInt, type.dims, {}};
    return Expression(ctx, {ctx.builder().add(OperationCode::CAST, {floats}, to_operand(integer)), integer});
  };
  return (moved(high) * kHalf + moved(low)).id();
}

// Moves integers by operations that take them; nothing if this feature level has no such operations.
Moved moved_exactly(OpContext& ctx, OperationCode code, const std::vector<OperandId>& inputs, const TensorType& type) {
  Moved result;
  if (code == OperationCode::CONCATENATION) result = joined(ctx, inputs, type);
  if (code == OperationCode::RESHAPE) result = unfolded(ctx, inputs[0], type);
  if (code == OperationCode::STRIDED_SLICE) result = stepped(ctx, inputs);
  if (code == OperationCode::TRANSPOSE) result = turned(ctx, inputs, type);
  if (!result && !is_arithmetic(code) && ctx.feature_level() >= kCalculatesIntegers) {
    result = moved_in_halves(ctx, code, inputs, type);
  }
  return result;
}

// True if float32 holds the inputs exactly; for arithmetic, also the result. A divisor also has to be above 0.
bool is_exact_as_floats(OpContext& ctx, OperationCode code, const std::vector<OperandId>& inputs) {
  constexpr double kMostDividend = 1 << 22;  // float32 holds halves of numbers up to this
  const size_t count = number_count(code, inputs.size());
  for (size_t i = 0; i < count; ++i) {
    if (!are_exact_in_float32(ctx, inputs[i])) return false;
  }
  if (!is_arithmetic(code)) return true;
  const IntegerRange a = *operand_range(ctx, inputs[0]), b = *operand_range(ctx, inputs[1]);
  switch (code) {
    case OperationCode::ADD:
      return (a + b).is_exact_in_float32();
    case OperationCode::SUB:
      return (a + -b).is_exact_in_float32();
    case OperationCode::MUL:
      return (a * b).is_exact_in_float32();
    default:
      return a.least >= -kMostDividend && a.greatest <= kMostDividend && b.least >= 1;
  }
}

[[noreturn]] void refuse_rounding(OpContext& ctx, const std::string& what) {
  ctx.refuse(fmt::format("integers that may be above 2^24, which NNAPI {} as float32 only", what),
             "integers that float32 holds", "if they are smaller, convert them before, as with x.float()");
}

}  // namespace

void refuse_large_integers(OpContext& ctx, const std::string& what) {
  ctx.refuse(fmt::format("integers that may be above 2^24, which NNAPI {} at feature level {} as float32 only", what,
                         ctx.feature_level()),
             "integers that float32 holds",
             "use " + option_for_level(kCalculatesIntegers) +
                 ", which has arithmetic of integers, or if they are smaller, convert them before, as with x.float()");
}

namespace {

bool gives_integers(OpContext& ctx) {
  const auto outputs = ctx.node().outputs();
  return std::any_of(outputs.begin(), outputs.end(), [&](const TorchValue* output) {
    const auto found = ctx.types().find(output);
    if (found == ctx.types().end()) return false;
    if (const auto* list = std::get_if<TensorTypes>(&found->second)) {
      return !list->empty() && c10::isIntegralType(list->front().dtype, /*includeBool=*/false);
    }
    const auto* type = std::get_if<TensorType>(&found->second);
    return type != nullptr && c10::isIntegralType(type->dtype, /*includeBool=*/false);
  });
}

bool takes_integers(OperationCode code, int feature_level) {
  switch (code) {
    case OperationCode::CONCATENATION:
    case OperationCode::TRANSPOSE:
    case OperationCode::STRIDED_SLICE:
      return false;
    case OperationCode::RESHAPE:
      return feature_level >= kReshapesIntegers;
    case OperationCode::ADD:
    case OperationCode::SUB:
    case OperationCode::MUL:
    case OperationCode::DIV:
      return feature_level >= kCalculatesIntegers;
    default:
      return true;
  }
}

OperandId emit_integers(OpContext& ctx, OperationCode code, std::vector<OperandId> inputs, const TensorType& type) {
  if (is_exact_as_floats(ctx, code, inputs)) {
    return code == OperationCode::DIV ? quotient_as_floats(ctx, inputs, type)
                                      : emit_as_floats(ctx, code, std::move(inputs), type);
  }
  if (const Moved moved = moved_exactly(ctx, code, inputs, type)) return *moved;
  const std::string what = is_arithmetic(code) ? "calculates" : "moves";
  if (ctx.feature_level() < kCalculatesIntegers) refuse_large_integers(ctx, what);
  refuse_rounding(ctx, fmt::format("{} at feature level {}", what, ctx.feature_level()));
}

void require_exact_cast(OpContext& ctx, OperandId input, const TensorType& type) {
  const bool from_integers = ctx.builder().model().at(input).type == OperandCode::TENSOR_INT32;
  const bool to_integers = type.dtype == at::kInt || type.dtype == at::kLong;
  if (from_integers == to_integers || !gives_integers(ctx)) return;
  if (to_integers && depends_on_floats(ctx, input)) return;  // as the model itself rounds them
  if (!are_exact_in_float32(ctx, input)) refuse_rounding(ctx, "calculates");
}

}  // namespace

IntegerForms integer_forms() {
  return {takes_integers, emit_integers, require_exact_cast};
}

}  // namespace nnapi_convert
