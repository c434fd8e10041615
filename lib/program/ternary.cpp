// SPDX-License-Identifier: BSD-3-Clause
// Operators on three tensors or numbers, element by element: choices, bounds, and products that are added.
#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/program/binary.h"
#include "lib/program/operator_table.h"

namespace nnapi_shim::program {

namespace {

struct Where {
  template <typename T>
  static T of(T condition, T a, T b, const T*) {
    return condition != 0 ? a : b;
  }
};
struct Clamp {
  template <typename T>
  static T of(T a, T least, T most, const T*) {
    if (is_nan(a)) return a;
    const T above = is_nan(least) || least > a ? least : a;
    return is_nan(above) || above < most ? above : most;
  }
};
struct Addcmul {
  template <typename T>
  static T of(T a, T b, T c, const T* value) {
    return sum(a, product(product(value[0], b), c));
  }
};
struct Addcdiv {
  static double of(double a, double b, double c, const double* value) { return a + value[0] * b / c; }
};
struct Lerp {
  static double of(double a, double b, double weight, const double*) {
    return std::fabs(weight) < 0.5 ? a + weight * (b - a) : b - (b - a) * (1 - weight);
  }
};

constexpr MapOp kAtLeast = all_classes<Maximum>(MapResult::kSame);
constexpr MapOp kAtMost = all_classes<Minimum>(MapResult::kSame);
constexpr MapOp kWhere = {
    {map_three<float, Where>, map_three<double, Where>, map_three<int64_t, Where>}, MapResult::kSame, true};
constexpr MapOp kClamp = {
    {map_three<float, Clamp>, map_three<double, Clamp>, map_three<int64_t, Clamp>}, MapResult::kSame, false};
constexpr MapOp kAddcmul = {
    {nullptr, map_three<double, Addcmul>, map_three<int64_t, Addcmul>}, MapResult::kSame, false};
constexpr MapOp kAddcdiv = {{nullptr, map_three<double, Addcdiv>, nullptr}, MapResult::kSame, false};
constexpr MapOp kLerp = {{nullptr, map_three<double, Lerp>, nullptr}, MapResult::kSame, false};

bool where(Call& call) {
  Tensor* condition;
  Operand operands[3];
  if (!tensor_at(call, 0, &condition) || !need_mask(call, *condition)) return false;
  for (uint32_t i = 0; i < 3; ++i) {
    if (!operands[i].read(call, i)) return false;
  }
  return run_map(call, kWhere, nullptr, 3, operands, 1, nullptr);
}

bool run_masked_fill(Call& call, bool in_place) {
  Tensor *tensor, *mask;
  Operand operands[3];
  if (!tensor_at(call, 0, &tensor) || !tensor_at(call, 1, &mask) || !need_mask(call, *mask)) return false;
  if (!operands[0].read(call, 1) || !operands[1].read(call, 2) || !operands[2].read(call, 0)) return false;
  if (operands[1].tensor().rank != 0) return call.context.fail("masked_fill() needs a value without axes");
  // The value is converted to the tensor's dtype; a float loses its fraction, and has to fit.
  const Tensor& value = operands[1].tensor();
  const bool is_cut = is_floating(value.dtype) && !is_floating(tensor->dtype) && tensor->dtype != ScalarType::kBool;
  const double whole = is_cut ? std::trunc(load_double(value, value.offset)) : 0;
  if (!operands[1].round_to(call.context.pool, tensor->dtype)) return call.context.fail_memory();
  const Tensor& rounded = operands[1].tensor();
  if (is_cut && load_double(rounded, rounded.offset) != whole) {
    return call.context.fail("the value is no %s", dtype_name(tensor->dtype));
  }
  return run_map(call, kWhere, nullptr, 3, operands, 1, in_place ? tensor : nullptr);
}
template <bool kInPlace>
bool masked_fill(Call& call) {
  return run_masked_fill(call, kInPlace);
}

// Runs clamp and its forms. `low` and `high` are the numbers of the arguments with the bounds (tensors, numbers or
// None); 0: there is none.
bool clamp_between(Call& call, uint32_t low, uint32_t high, bool in_place) {
  Tensor* tensor;
  if (!tensor_at(call, 0, &tensor)) return false;
  const bool has_low = low != 0 && !call.input(low).is_none(), has_high = high != 0 && !call.input(high).is_none();
  if (!has_low && !has_high) return call.context.fail("clamp() needs a bound");
  Promotion promotion;
  Operand operands[3];
  operands[0].set(call.input(0));
  operands[0].add_to(promotion);
  if (has_low && !operands[1].read(call, low)) return false;
  if (has_low) operands[1].add_to(promotion);
  if (has_high && !operands[2].read(call, high)) return false;
  if (has_high) operands[2].add_to(promotion);
  const bool is_real = is_floating(promotion.result());
  const double infinity = std::numeric_limits<double>::infinity();
  const Value least = is_real ? Value(-infinity) : Value(std::numeric_limits<int64_t>::min());
  const Value most = is_real ? Value(infinity) : Value(std::numeric_limits<int64_t>::max());
  // With one bound it computes a maximum or a minimum: an infinite bound for the missing one might not fit the dtype.
  if (!has_low || !has_high) {
    const Value& bound = call.input(has_low ? low : high);
    Operand two[2];
    two[0].set(call.input(0));
    two[1].set(bound);
    if (!is_real) return run_map(call, has_low ? kAtLeast : kAtMost, nullptr, 2, two, 0, in_place ? tensor : nullptr);
    operands[has_low ? 2 : 1].set(has_low ? most : least);
  }
  return run_map(call, kClamp, nullptr, 3, operands, 0, in_place ? tensor : nullptr);
}

template <bool kInPlace>
bool clamp(Call& call) {
  return clamp_between(call, 1, 2, kInPlace);
}
template <bool kInPlace>
bool clamp_min(Call& call) {
  return clamp_between(call, 1, 0, kInPlace);
}
template <bool kInPlace>
bool clamp_max(Call& call) {
  return clamp_between(call, 0, 1, kInPlace);
}

bool run_hardtanh(Call& call, bool in_place) {
  Tensor* tensor;
  if (!tensor_at(call, 0, &tensor)) return false;
  Operand operands[3];
  for (uint32_t i = 0; i < 3; ++i) {
    if (!operands[i].read(call, i)) return false;
    if (!operands[i].round_to(call.context.pool, tensor->dtype)) return call.context.fail_memory();
  }
  return run_map(call, kClamp, nullptr, 3, operands, 0, in_place ? tensor : nullptr);
}
template <bool kInPlace>
bool hardtanh(Call& call) {
  return run_hardtanh(call, kInPlace);
}

bool of_three(Call& call, const MapOp& op, const Parameters* parameters, bool in_place) {
  Operand operands[3];
  Tensor* target = nullptr;
  if (in_place && !tensor_at(call, 0, &target)) return false;
  for (uint32_t i = 0; i < 3; ++i) {
    if (!operands[i].read(call, i)) return false;
  }
  return run_map(call, op, parameters, 3, operands, 0, target);
}

template <const MapOp& kOp, bool kInPlace>
bool with_value(Call& call) {
  if (!is_number(call.input(3))) return call.context.fail("value is %s, needs a number", kind_name(call.input(3)));
  Parameters parameters;
  parameters.set(0, call.input(3));
  return of_three(call, kOp, &parameters, kInPlace);
}

bool lerp(Call& call) {
  return of_three(call, kLerp, nullptr, false);
}

constexpr OperatorRow kRows[] = {
    {"aten::where.self,ScalarOther,ScalarSelf,Scalar", 3, 1, where},
    {"aten::masked_fill.Scalar,Tensor", 3, 1, masked_fill<false>},
    {"aten::masked_fill_.Scalar,Tensor", 3, 1, masked_fill<true>},
    {"aten::clamp.,Tensor", 3, 1, clamp<false>},
    {"aten::clamp_.,Tensor", 3, 1, clamp<true>},
    {"aten::clip.,Tensor", 3, 1, clamp<false>},
    {"aten::clip_.,Tensor", 3, 1, clamp<true>},
    {"aten::clamp_min.,Tensor", 2, 1, clamp_min<false>},
    {"aten::clamp_min_.,Tensor", 2, 1, clamp_min<true>},
    {"aten::clamp_max.,Tensor", 2, 1, clamp_max<false>},
    {"aten::clamp_max_.,Tensor", 2, 1, clamp_max<true>},
    {"aten::hardtanh", 3, 1, hardtanh<false>},
    {"aten::hardtanh_", 3, 1, hardtanh<true>},
    {"aten::addcmul", 4, 1, with_value<kAddcmul, false>},
    {"aten::addcmul_", 4, 1, with_value<kAddcmul, true>},
    {"aten::addcdiv", 4, 1, with_value<kAddcdiv, false>},
    {"aten::addcdiv_", 4, 1, with_value<kAddcdiv, true>},
    {"aten::lerp.Scalar,Tensor", 3, 1, lerp},
};

}  // namespace

const OperatorTable ternary_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
