// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic of two tensors or numbers, element by element.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "lib/program/binary.h"
#include "lib/program/operator_table.h"

namespace nnapi_shim::program {

bool run_two(Call& call, const MapOp& op, const Parameters* parameters, bool in_place) {
  Operand operands[2];
  Tensor* target = nullptr;
  if (in_place && !tensor_at(call, 0, &target)) return false;
  if (!operands[0].read(call, 0) || !operands[1].read(call, 1)) return false;
  return run_map(call, op, parameters, 2, operands, 0, target);
}

namespace {

PROGRAM_FUNCTION_OF_TWO(Add, sum(a, b))
PROGRAM_FUNCTION_OF_TWO(Sub, difference(a, b))
PROGRAM_FUNCTION_OF_TWO(Rsub, difference(b, a))
PROGRAM_FUNCTION_OF_TWO(Mul, product(a, b))
PROGRAM_FUNCTION_OF_TWO(Div, a / b)
PROGRAM_FUNCTION_OF_TWO(Fmax, is_nan(b) || a > b ? a : b)
PROGRAM_FUNCTION_OF_TWO(Fmin, is_nan(b) || a < b ? a : b)
PROGRAM_FUNCTION_OF_TWO(Atan2, std::atan2(a, b))
PROGRAM_FUNCTION_OF_TWO(Hypot, std::hypot(a, b))
PROGRAM_FUNCTION_OF_TWO(Copysign, std::copysign(a, b))
PROGRAM_FUNCTION_OF_TWO(Heaviside, a == 0 ? b : (a > 0 ? 1 : 0))
PROGRAM_FUNCTION_OF_TWO(Xlogy, is_nan(b) ? b : (a == 0 ? 0 : a * std::log(b)))
PROGRAM_FUNCTION_OF_TWO(Logaddexp,
                        std::isinf(a) && a == b ? a : std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b))))

struct Pow {
  static double of(double a, double b) { return std::pow(a, b); }
  static int64_t of(int64_t a, int64_t b) {
    if (b < 0) {
      if (a == 1) return 1;
      return a == -1 ? ((b & 1) != 0 ? -1 : 1) : 0;
    }
    int64_t result = 1;
    for (; b > 0; b >>= 1) {
      if ((b & 1) != 0) result = product(result, a);
      a = product(a, a);
    }
    return result;
  }
};

struct Remainder {
  static double of(double a, double b) {
    const double rest = std::fmod(a, b);
    return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;
  }
  static int64_t of(int64_t a, int64_t b) {
    if (b == -1) return 0;
    const int64_t rest = a % b;
    return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;
  }
};

struct Fmod {
  static double of(double a, double b) { return std::fmod(a, b); }
  static int64_t of(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }
};

struct FloorDivide {
  static double of(double a, double b) {
    if (b == 0) return a / b;
    const double rest = std::fmod(a, b);
    double result = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) result -= 1;
    if (result == 0) return std::copysign(0.0, a / b);
    const double whole = std::floor(result);
    return result - whole > 0.5 ? whole + 1 : whole;
  }
  static int64_t of(int64_t a, int64_t b) {
    if (b == -1) return difference<int64_t>(0, a);
    const int64_t result = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? result - 1 : result;
  }
};

struct TruncDivide {
  static float of(float a, float b) { return std::trunc(a / b); }
  static double of(double a, double b) { return std::trunc(a / b); }
  static int64_t of(int64_t a, int64_t b) { return b == -1 ? difference<int64_t>(0, a) : a / b; }
};

// Four floats at once: compilers don't do this by themselves in small code.
using FourFloats = float __attribute__((vector_size(16)));
template <FourFloats (*kFunction)(FourFloats, FourFloats), typename F>
bool map_floats(size_t count, void* out, const void* const* in, const void* parameters) {
  auto* results = static_cast<float*>(out);
  const auto *a = static_cast<const float*>(in[0]), *b = static_cast<const float*>(in[1]);
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    FourFloats x, y;
    std::memcpy(&x, a + i, sizeof x);
    std::memcpy(&y, b + i, sizeof y);
    x = kFunction(x, y);
    std::memcpy(results + i, &x, sizeof x);
  }
  const void* rest[2] = {a + i, b + i};
  return map_two<float, F>(count - i, results + i, rest, parameters);
}
FourFloats four_sums(FourFloats a, FourFloats b) {
  return a + b;
}
FourFloats four_differences(FourFloats a, FourFloats b) {
  return a - b;
}
FourFloats four_products(FourFloats a, FourFloats b) {
  return a * b;
}
FourFloats four_quotients(FourFloats a, FourFloats b) {
  return a / b;
}

// Division of whole numbers, which stops at a zero.
template <typename F>
bool map_quotients(size_t count, void* out, const void* const* in, const void* parameters) {
  const auto* divisors = static_cast<const int64_t*>(in[1]);
  if (std::find(divisors, divisors + count, 0) != divisors + count) return false;
  return map_two<int64_t, F>(count, out, in, parameters);
}

template <typename F>
constexpr MapOp in_double() {
  return {{nullptr, map_two<double, F>, nullptr}, MapResult::kFloat, true};
}
template <typename F>
constexpr MapOp with_quotients() {
  return {{nullptr, map_two<double, F>, map_quotients<F>}, MapResult::kSame, false};
}

constexpr MapOp kAdd = {
    {map_floats<four_sums, Add>, map_two<double, Add>, map_two<int64_t, Add>}, MapResult::kSame, true};
constexpr MapOp kSub = {
    {map_floats<four_differences, Sub>, map_two<double, Sub>, map_two<int64_t, Sub>}, MapResult::kSame, false};
constexpr MapOp kRsub = all_classes<Rsub>(MapResult::kSame, false);
constexpr MapOp kMul = {
    {map_floats<four_products, Mul>, map_two<double, Mul>, map_two<int64_t, Mul>}, MapResult::kSame, true};
constexpr MapOp kDiv = {{map_floats<four_quotients, Div>, map_two<double, Div>, nullptr}, MapResult::kFloat, true};
constexpr MapOp kMaximum = all_classes<Maximum>(MapResult::kSame);
constexpr MapOp kMinimum = all_classes<Minimum>(MapResult::kSame);
constexpr MapOp kFmax = {{nullptr, map_two<double, Fmax>, map_two<int64_t, Fmax>}, MapResult::kSame, true};
constexpr MapOp kFmin = {{nullptr, map_two<double, Fmin>, map_two<int64_t, Fmin>}, MapResult::kSame, true};
constexpr MapOp kPow = {{nullptr, map_two<double, Pow>, map_two<int64_t, Pow>}, MapResult::kSame, true};
constexpr MapOp kAtan2 = in_double<Atan2>();
constexpr MapOp kHypot = in_double<Hypot>();
constexpr MapOp kCopysign = in_double<Copysign>();
constexpr MapOp kXlogy = in_double<Xlogy>();
constexpr MapOp kLogaddexp = in_double<Logaddexp>();
constexpr MapOp kHeaviside = {
    {nullptr, map_two<double, Heaviside>, map_two<int64_t, Heaviside>}, MapResult::kSame, true};
constexpr MapOp kRemainder = with_quotients<Remainder>();
constexpr MapOp kFmod = with_quotients<Fmod>();
constexpr MapOp kFloorDivide = {
    {nullptr, map_two<double, FloorDivide>, map_quotients<FloorDivide>}, MapResult::kSame, true};
constexpr MapOp kTruncDivide = {
    {map_two<float, TruncDivide>, map_two<double, TruncDivide>, map_quotients<TruncDivide>}, MapResult::kSame, true};
constexpr MapOp kAddScaled = {{map_two_with<float, AddScaled<false>>, map_two_with<double, AddScaled<false>>,
                               map_two_with<int64_t, AddScaled<false>>},
                              MapResult::kSame,
                              true};
constexpr MapOp kRsubScaled = {{map_two_with<float, AddScaled<true>>, map_two_with<double, AddScaled<true>>,
                                map_two_with<int64_t, AddScaled<true>>},
                               MapResult::kSame,
                               true};

// add, sub and rsub: the third argument scales the second one, or for rsub the first one.
bool scaled(Call& call, const MapOp& plain, const MapOp& op, bool is_difference, bool in_place) {
  const Value& alpha = call.input(2);
  if (!is_number(alpha)) return call.context.fail("alpha is %s, needs a number", kind_name(alpha));
  Promotion promotion;
  for (uint32_t i = 0; i < 2; ++i) {
    Operand operand;
    if (!operand.read(call, i)) return false;
    operand.add_to(promotion);
    if (is_difference && operand.tensor().dtype == ScalarType::kBool) {
      return call.context.fail("bools have no difference: logical_not() or logical_xor() does that");
    }
  }
  if (alpha.tag() == Tag::kFloat && !is_floating(promotion.result())) {
    return call.context.fail("alpha is a float, whole numbers need an int");
  }
  if (number_of(alpha) == 1) return run_two(call, plain, nullptr, in_place);
  Parameters parameters;
  parameters.set(0, alpha);
  if (is_difference) {
    parameters.of_float[0] = -parameters.of_float[0];
    parameters.of_double[0] = -parameters.of_double[0];
    parameters.of_int[0] = difference<int64_t>(0, parameters.of_int[0]);
  }
  return run_two(call, op, &parameters, in_place);
}

template <bool kInPlace>
bool add(Call& call) {
  return scaled(call, kAdd, kAddScaled, false, kInPlace);
}
template <bool kInPlace>
bool sub(Call& call) {
  return scaled(call, kSub, kAddScaled, true, kInPlace);
}
bool rsub(Call& call) {
  return scaled(call, kRsub, kRsubScaled, true, false);
}

bool run_div_mode(Call& call, bool in_place) {
  const char* mode;
  if (!optional_text_at(call, 2, &mode)) return false;
  if (mode == nullptr) return run_two(call, kDiv, nullptr, in_place);
  if (std::strcmp(mode, "floor") == 0) return run_two(call, kFloorDivide, nullptr, in_place);
  if (std::strcmp(mode, "trunc") == 0) return run_two(call, kTruncDivide, nullptr, in_place);
  return call.context.fail("the rounding mode is '%s', needs 'floor' or 'trunc'", mode);
}
template <bool kInPlace>
bool div_mode(Call& call) {
  return run_div_mode(call, kInPlace);
}

// PyTorch takes roots for these exponents, which differ from powers for -0.0 and minus infinity.
struct Root {  // for the exponent 0.5 or -0.5
  static double of(double a, const double* exponent) { return exponent[0] > 0 ? std::sqrt(a) : 1 / std::sqrt(a); }
};
constexpr MapOp kRoot = {{nullptr, map_one_with<double, Root>, nullptr}, MapResult::kFloat, true};

bool run_pow(Call& call, bool in_place) {
  const Value &base = call.input(0), &exponent = call.input(1);
  if (!base.is_tensor() || !is_number(exponent)) return run_two(call, kPow, nullptr, in_place);
  if (exponent.tag() == Tag::kInt && exponent.as_int() < 0 && !is_floating(base.tensor().dtype)) {
    return call.context.fail("whole numbers have no powers below 0");
  }
  if (std::fabs(number_of(exponent)) != 0.5) return run_two(call, kPow, nullptr, in_place);
  Parameters parameters;
  parameters.set(0, exponent);
  Operand operand;
  operand.set(base);
  return run_map(call, kRoot, &parameters, 1, &operand, 0, in_place ? &base.tensor() : nullptr);
}
template <bool kInPlace>
bool pow(Call& call) {
  return run_pow(call, kInPlace);
}

// float_power: computes the power in float64.
bool float_power(Call& call) {
  Value both[2];
  for (uint32_t i = 0; i < 2; ++i) {
    Operand operand;
    if (!operand.read(call, i)) return false;
    both[i] = Value(row_major_copy(call.context.pool, operand.tensor(), ScalarType::kFloat64));
    if (both[i].is_none()) return call.context.fail_memory();
  }
  const Value* inputs[2] = {&both[0], &both[1]};
  Call inner{call.context, inputs, 2, call.outputs, 1};
  return run_two(inner, kPow, nullptr, false);
}

constexpr OperatorRow kRows[] = {
    PROGRAM_ROWS_OF_TWO("mul", kMul),
    PROGRAM_ROWS_OF_TWO("multiply", kMul),
    PROGRAM_ROWS_OF_TWO("div", kDiv),
    PROGRAM_ROWS_OF_TWO("divide", kDiv),
    PROGRAM_ROWS_OF_TWO("true_divide", kDiv),
    PROGRAM_ROWS_OF_TWO("fmod", kFmod),
    {"aten::remainder.Tensor,Scalar,Scalar_Tensor", 2, 1, of_two<kRemainder>},
    {"aten::remainder_.Tensor,Scalar", 2, 1, of_two_in_place<kRemainder>},
    {"aten::floor_divide.,Scalar", 2, 1, of_two<kFloorDivide>},
    {"aten::floor_divide_.Tensor,Scalar", 2, 1, of_two_in_place<kFloorDivide>},
    {"aten::div.Tensor_mode,Scalar_mode", 3, 1, div_mode<false>},
    {"aten::div_.Tensor_mode,Scalar_mode", 3, 1, div_mode<true>},
    {"aten::divide.Tensor_mode,Scalar_mode", 3, 1, div_mode<false>},
    {"aten::add.Tensor,Scalar", 3, 1, add<false>},
    {"aten::add_.Tensor,Scalar", 3, 1, add<true>},
    {"aten::sub.Tensor,Scalar", 3, 1, sub<false>},
    {"aten::sub_.Tensor,Scalar", 3, 1, sub<true>},
    {"aten::subtract.Tensor,Scalar", 3, 1, sub<false>},
    {"aten::rsub.Tensor,Scalar", 3, 1, rsub},
    {"aten::pow.Tensor_Tensor,Tensor_Scalar,Scalar", 2, 1, pow<false>},
    {"aten::pow_.Tensor,Scalar", 2, 1, pow<true>},
    {"aten::float_power.Tensor_Tensor,Tensor_Scalar,Scalar", 2, 1, float_power},
    {"aten::maximum", 2, 1, of_two<kMaximum>},
    {"aten::minimum", 2, 1, of_two<kMinimum>},
    {"aten::max.other", 2, 1, of_two<kMaximum>},
    {"aten::min.other", 2, 1, of_two<kMinimum>},
    {"aten::fmax", 2, 1, of_two<kFmax>},
    {"aten::fmin", 2, 1, of_two<kFmin>},
    {"aten::atan2", 2, 1, of_two<kAtan2>},
    {"aten::arctan2", 2, 1, of_two<kAtan2>},
    {"aten::atan2_", 2, 1, of_two_in_place<kAtan2>},
    {"aten::hypot", 2, 1, of_two<kHypot>},
    {"aten::heaviside", 2, 1, of_two<kHeaviside>},
    {"aten::copysign.Tensor,Scalar", 2, 1, of_two<kCopysign>},
    {"aten::xlogy.Tensor,Scalar_Other,Scalar_Self", 2, 1, of_two<kXlogy>},
    {"aten::logaddexp", 2, 1, of_two<kLogaddexp>},
};

}  // namespace

const OperatorTable binary_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
