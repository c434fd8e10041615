// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/formula.h"

#include "lib/ops/shape_rules.h"

namespace nnapi_convert {

std::vector<ValueType> formula_type(const OpArguments& args) {
  const char* name = formula_argument(args);
  const TensorType x = args.tensor(name);
  args.require(!x.is_quantized(), "a tensor " + to_text(x), "float32 or integers", "use dequantize() before it");
  return {TensorType{float_of(promoted_dtype(args, {name})), x.dims, {}}};
}

Expression polynomial(const Expression& x, const std::vector<double>& coefficients) {
  Expression sum = x * coefficients.back();
  for (size_t i = coefficients.size() - 2; i > 0; --i) sum = (sum + coefficients[i]) * x;
  return sum + coefficients[0];
}

Expression choose(const Expression& mask, const Expression& chosen, const Expression& other) {
  OpContext& ctx = mask.context();
  const Dims dims = broadcast(ctx, mask.type().dims, broadcast(ctx, chosen.type().dims, other.type().dims));
  // NNAPI repeats no bool.
  const Expression where = mask.type().dims == dims ? mask : cast(expand(cast(mask, at::kFloat), dims), at::kBool);
  return select(where, expand(chosen, dims), expand(other, dims));
}

Expression choose(const Expression& mask, const Expression& chosen, double other) {
  return choose(mask, chosen, filled(mask.context(), other, chosen.type()));
}

Expression choose(const Expression& mask, double chosen, const Expression& other) {
  return choose(mask, filled(mask.context(), chosen, other.type()), other);
}

Expression is_less(const Expression& x, double number) {
  return compare(OperationCode::LESS, x, x.same(number));
}

Expression is_greater(const Expression& x, double number) {
  return compare(OperationCode::GREATER, x, x.same(number));
}

Expression is_equal(const Expression& x, double number) {
  return compare(OperationCode::EQUAL, x, x.same(number));
}

Expression is_nan(const Expression& x) {
  return compare(OperationCode::NOT_EQUAL, x, x);
}

// A stair function: it takes the steps at 1.5, 3.5... by a floor (inclusive) and those at 0.5, 2.5... by a ceiling
// (exclusive).
Expression round_to_even(const Expression& x) {
  const Expression half = x * 0.5;
  return floor(half + 0.25) - floor(0.25 - half);
}

Expression as_number(const Expression& mask, at::ScalarType dtype) {
  const TensorType type{dtype, mask.type().dims, {}};
  return select(mask, filled(mask.context(), 1, type), filled(mask.context(), 0, type));
}

Expression sign_factor(const Expression& x) {
  return choose(is_less(x, 0), -1, filled(x.context(), 1, x.type()));
}

}  // namespace nnapi_convert
