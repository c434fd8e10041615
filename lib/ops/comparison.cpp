// SPDX-License-Identifier: BSD-3-Clause
// Comparisons and logic: operations whose result is bool.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "lib/ops/expression.h"
#include "lib/ops/families.h"
#include "lib/ops/promotion.h"
#include "lib/ops/saturation.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

bool is_quantized(const OpArguments& args, const std::string& name) {
  return !is_number(args, name) && args.tensor(name).is_quantized();
}

std::vector<ValueType> comparison_type(const OpArguments& args) {
  if (!is_quantized(args, "self") && !is_quantized(args, "other")) promoted_dtype(args, {"self", "other"});
  return {TensorType{at::kBool, broadcast_dims(args, {"self", "other"}), {}}};
}

// Compares the real values of quantised tensors; with equal scales their integers have the same order.
void compare_quantized(OpContext& ctx, OperationCode code) {
  const Expression self = argument(ctx, "self");
  if (is_number(ctx, "other")) {
    return compare(code, dequantize(self), constant(ctx, number_value(ctx, "other"))).set_output();
  }
  const Expression other = argument(ctx, "other");
  if (self.type().is_quantized() && self.type().quantization == other.type().quantization) {
    return compare(code, self, other).set_output();
  }
  compare(code, dequantize(self), dequantize(other)).set_output();
}

// Compares a result of arithmetic with an infinite number: on Android the largest float32 stands for it in the result.
Expression compare_saturated(OperationCode code, const Expression& x, bool is_positive) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  const Expression largest = x.same(is_positive ? kLargest : -kLargest);
  const OperationCode beyond = is_positive ? OperationCode::GREATER_EQUAL : OperationCode::LESS_EQUAL;
  if (code == OperationCode::EQUAL) return compare(beyond, x, largest);
  if (code == OperationCode::NOT_EQUAL) return compare(beyond, x, largest).then(OperationCode::LOGICAL_NOT);
  return compare(code, x, largest);
}

// True for a comparison whose result depends on infinite numbers; x <= inf, for example, holds for all numbers.
bool tells_infinite(OperationCode code, bool is_positive) {
  return code != (is_positive ? OperationCode::LESS_EQUAL : OperationCode::GREATER_EQUAL) &&
         code != (is_positive ? OperationCode::GREATER : OperationCode::LESS);
}

template <OperationCode code>
void lower_comparison(OpContext& ctx) {
  if (is_quantized(ctx, "self") || is_quantized(ctx, "other")) return compare_quantized(ctx, code);
  const bool tests_zero = is_number(ctx, "other") && number_value(ctx, "other") == 0;
  if (tests_zero && ctx.tensor("self").dtype == at::kBool) {
    const Expression self = argument(ctx, "self");
    if (code == OperationCode::EQUAL) return self.then(OperationCode::LOGICAL_NOT).set_output();
    if (code == OperationCode::NOT_EQUAL) return self.set_output();
  }
  const at::ScalarType dtype = promoted_dtype(ctx, {"self", "other"});
  const double number = is_number(ctx, "other") ? number_value(ctx, "other") : 0;
  const bool is_saturated = std::isinf(number) && dtype == at::kFloat && !is_number(ctx, "self") &&
                            may_be_saturated(*ctx.input("self"), ctx.types());
  if (is_saturated && tells_infinite(code, number > 0)) {
    const Expression x = argument_as(ctx, "self", dtype);
    return reshape(compare_saturated(code, x, number > 0), ctx.output_type().dims).set_output();
  }
  compare(code, argument_as(ctx, "self", dtype), argument_as(ctx, "other", dtype)).set_output();
}

std::vector<ValueType> isnan_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_float(args, self);
  return {TensorType{at::kBool, self.dims, {}}};
}

void lower_isnan(OpContext& ctx) {
  const Expression x = argument(ctx, "self");
  if (may_be_saturated(*ctx.input("self"), ctx.types())) {
    ctx.warn(
        "NaN that arithmetic makes of infinite numbers, as inf - inf, isn't seen: on Android, NNAPI's arithmetic "
        "gives the largest float32 for an infinite number");
  }
  compare(OperationCode::NOT_EQUAL, x, x).set_output();
}

std::vector<ValueType> logical_type(const OpArguments& args) {
  std::vector<std::string> names{"self"};
  if (args.has("other")) names.emplace_back("other");
  TensorType type = promoted_type(args, names);
  type.dtype = at::kBool;
  return {type};
}

// The type of bitwise_not of bools and integers.
std::vector<ValueType> bitwise_not_type(const OpArguments& args) {
  const TensorType type = promoted_type(args, {"self"});
  args.require(type.dtype != at::kFloat, "a result " + to_text(type), "bool, int32 or int64");
  return {type};
}

// The type of operators on bits of bools; NNAPI has no operation on bits of integers.
std::vector<ValueType> bitwise_type(const OpArguments& args) {
  std::vector<std::string> names{"self"};
  if (args.has("other")) names.emplace_back("other");
  const TensorType type = promoted_type(args, names);
  args.require(type.dtype == at::kBool, "a result " + to_text(type), "bool");
  return {type};
}

template <OperationCode code>
void lower_logical(OpContext& ctx) {
  compare(code, argument_as(ctx, "self", at::kBool), argument_as(ctx, "other", at::kBool)).set_output();
}

void lower_not(OpContext& ctx) {
  const Expression self = argument(ctx, "self");
  if (self.dtype() != at::kBool) return compare(OperationCode::EQUAL, self, self.same(0)).set_output();
  self.then(OperationCode::LOGICAL_NOT).set_output();
}

// Lowers bitwise_not: -1 - x for integers, which are in two's complement; LOGICAL_NOT for bool.
void lower_bitwise_not(OpContext& ctx) {
  const Expression self = argument(ctx, "self");
  if (self.dtype() == at::kBool) return lower_not(ctx);
  (self.same(-1) - self).set_output();
}

constexpr const char* kComparisonNote = "float32, integers, bool and quint8";

}  // namespace

OpRules comparison_rules() {
  constexpr LowerRule logical_and = lower_logical<OperationCode::LOGICAL_AND>;
  constexpr LowerRule logical_or = lower_logical<OperationCode::LOGICAL_OR>;
  constexpr LowerRule logical_xor = lower_logical<OperationCode::NOT_EQUAL>;
  return {
      {"aten::eq.Tensor(Tensor self, Tensor other) -> Tensor", 3, kComparisonNote, comparison_type,
       lower_comparison<OperationCode::EQUAL>, kElementwise | Fact::kTakesAnyNumber},
      {"aten::eq.Scalar(Tensor self, Scalar other) -> Tensor", 3, kComparisonNote, comparison_type,
       lower_comparison<OperationCode::EQUAL>, kElementwise | Fact::kTakesAnyNumber},
      {"aten::ne.Tensor(Tensor self, Tensor other) -> Tensor", 3, kComparisonNote, comparison_type,
       lower_comparison<OperationCode::NOT_EQUAL>, kElementwise | Fact::kTakesAnyNumber},
      {"aten::ne.Scalar(Tensor self, Scalar other) -> Tensor", 3, kComparisonNote, comparison_type,
       lower_comparison<OperationCode::NOT_EQUAL>, kElementwise | Fact::kTakesAnyNumber},
      {"aten::lt.Tensor(Tensor self, Tensor other) -> Tensor", 3, kComparisonNote, comparison_type,
       lower_comparison<OperationCode::LESS>, kElementwise | Fact::kTakesAnyNumber},
      {"aten::lt.Scalar(Tensor self, Scalar other) -> Tensor", 3, kComparisonNote, comparison_type,
       lower_comparison<OperationCode::LESS>, kElementwise | Fact::kTakesAnyNumber},
      {"aten::le.Tensor(Tensor self, Tensor other) -> Tensor", 3, kComparisonNote, comparison_type,
       lower_comparison<OperationCode::LESS_EQUAL>, kElementwise | Fact::kTakesAnyNumber},
      {"aten::le.Scalar(Tensor self, Scalar other) -> Tensor", 3, kComparisonNote, comparison_type,
       lower_comparison<OperationCode::LESS_EQUAL>, kElementwise | Fact::kTakesAnyNumber},
      {"aten::gt.Tensor(Tensor self, Tensor other) -> Tensor", 3, kComparisonNote, comparison_type,
       lower_comparison<OperationCode::GREATER>, kElementwise | Fact::kTakesAnyNumber},
      {"aten::gt.Scalar(Tensor self, Scalar other) -> Tensor", 3, kComparisonNote, comparison_type,
       lower_comparison<OperationCode::GREATER>, kElementwise | Fact::kTakesAnyNumber},
      {"aten::ge.Tensor(Tensor self, Tensor other) -> Tensor", 3, kComparisonNote, comparison_type,
       lower_comparison<OperationCode::GREATER_EQUAL>, kElementwise | Fact::kTakesAnyNumber},
      {"aten::ge.Scalar(Tensor self, Scalar other) -> Tensor", 3, kComparisonNote, comparison_type,
       lower_comparison<OperationCode::GREATER_EQUAL>, kElementwise | Fact::kTakesAnyNumber},
      {"aten::isnan(Tensor self) -> Tensor", 3, "float32", isnan_type, lower_isnan, kUnprovedRows},
      {"aten::logical_and(Tensor self, Tensor other) -> Tensor", 3, "", logical_type, logical_and, kElementwise},
      {"aten::logical_or(Tensor self, Tensor other) -> Tensor", 3, "", logical_type, logical_or, kElementwise},
      {"aten::logical_xor(Tensor self, Tensor other) -> Tensor", 3, "", logical_type, logical_xor, kUnprovedRows},
      {"aten::logical_not(Tensor self) -> Tensor", 3, "", logical_type, lower_not, kElementwise},
      {"aten::bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor", 3, "bool", bitwise_type, logical_and,
       kUnprovedRows},
      {"aten::bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor", 3, "bool", bitwise_type, logical_or,
       kUnprovedRows},
      {"aten::bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor", 3, "bool", bitwise_type, logical_xor,
       kUnprovedRows},
      {"aten::bitwise_not(Tensor self) -> Tensor", 3, "bool, integers", bitwise_not_type, lower_bitwise_not,
       kUnprovedRows},
      {"aten::__and__.Tensor(Tensor self, Tensor other) -> Tensor", 3, "bool", bitwise_type, logical_and,
       kUnprovedRows},
      {"aten::__or__.Tensor(Tensor self, Tensor other) -> Tensor", 3, "bool", bitwise_type, logical_or, kUnprovedRows},
      {"aten::__xor__.Tensor(Tensor self, Tensor other) -> Tensor", 3, "bool", bitwise_type, logical_xor,
       kUnprovedRows},
  };
}

}  // namespace nnapi_convert
