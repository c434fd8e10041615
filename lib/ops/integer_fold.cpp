// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/integer_fold.h"

#include <optional>

#include "lib/base/error.h"
#include "lib/format/operation_table.h"
#include "lib/ops/index_arguments.h"
#include "lib/ops/operand_range.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

Expression part(const Expression& x, size_t axis, int64_t begin, int64_t end) {
  Dims begins(x.type().rank(), Dim(0)), ends = x.type().dims;
  begins[axis] = Dim(begin);
  ends[axis] = Dim(end);
  TensorType type = x.type();
  type.dims[axis] = Dim(end - begin);
  const Dims steps(x.type().rank(), Dim(1));
  OpContext& ctx = x.context();
  return {ctx, {ctx.sliced({x.id(), x.type()}, begins, ends, steps), type}};
}

Expression combined(OperationCode code, const Expression& a, const Expression& b) {
  switch (code) {
    case OperationCode::ADD:
      return a + b;
    case OperationCode::MUL:
      return a * b;
    case OperationCode::MAXIMUM:
      return maximum(a, b);
    default:
      NNC_ASSERT(code == OperationCode::MINIMUM, "no fold");
      return minimum(a, b);
  }
}

// Combines the two halves of the axis until one element is left; an odd element is kept for the end.
Expression fold_axis(OperationCode code, Expression x, size_t axis) {
  std::optional<Expression> rest;
  while (x.type().dims[axis].value() > 1) {
    const int64_t size = x.type().dims[axis].value();
    const int64_t half = size / 2;
    if (size % 2 == 1) {
      const Expression last = part(x, axis, size - 1, size);
      rest = rest ? combined(code, *rest, last) : last;
    }
    x = combined(code, part(x, axis, 0, half), part(x, axis, half, 2 * half));
  }
  return rest ? combined(code, x, *rest) : x;
}

}  // namespace

Expression fold_integers(OperationCode code, const Expression& x, const std::vector<int64_t>& axes, bool keeps_axes) {
  Expression result = x;
  for (const int64_t axis : axes) {
    const Dim& size = x.type().dims[static_cast<size_t>(axis)];
    x.context().require(size.is_fixed() && size.value() > 0, "integers along an axis of size " + size.text(),
                        "a fixed size", "give every size of the input with --input");
    result = fold_axis(code, result, static_cast<size_t>(axis));
  }
  return reshape(result, without_axes(x.type().dims, axes, keeps_axes));
}

Expression reduced_numbers(OpContext& ctx, bool folds) {
  constexpr int kCalculatesIntegers = 4;
  const Expression x = argument(ctx, "self");
  const at::ScalarType dtype = ctx.output_type().dtype;
  if (!x.is_float() || dtype == at::kFloat) return x;
  if (folds && ctx.feature_level() >= kCalculatesIntegers && all_fixed(x.type().dims)) return cast(x, dtype);
  ctx.warn("integers above 2^24 come out rounded, as NNAPI computes them in float32");
  return trunc(x);
}

bool rounds_integers(OperationCode code, const Expression& x, const std::vector<int64_t>& axes) {
  if (x.is_float() || x.dtype() == at::kBool) return false;
  const auto range = operand_range(x.context(), x.id());
  if (!range) return true;
  if (has_trait(code, OperationTrait::kExtreme)) return !range->is_exact_in_float32();
  const bool is_unit = range->least >= -1 && range->greatest <= 1;
  if (code == OperationCode::MUL) return !is_unit;
  double count = 1;
  for (const int64_t axis : axes) {
    count *= count_of(x.type().dims[static_cast<size_t>(axis)]);
  }
  const IntegerRange sum = *range * IntegerRange{1, count};
  return sum.least < -kExactInFloat32 || sum.greatest > kExactInFloat32;
}

}  // namespace nnapi_convert
