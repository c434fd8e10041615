// SPDX-License-Identifier: BSD-3-Clause
// Functions of the elements of one tensor.
#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/program/float_loops.h"
#include "lib/program/operator_table.h"
#include "lib/program/unary.h"

namespace nnapi_shim::program {

bool run_one(Call& call, const MapOp& op, const Parameters* parameters, bool in_place) {
  Tensor* tensor;
  if (!tensor_at(call, 0, &tensor)) return false;
  Operand operand;
  operand.set(call.input(0));
  return run_map(call, op, parameters, 1, &operand, 0, in_place ? tensor : nullptr);
}

namespace {

constexpr double kPi = 3.14159265358979323846;

// Functions of floats are computed in double, except where float's own function is as exact and faster.
template <float (*kFunction)(float)>
bool call_float(size_t count, void* out, const void* const* in, const void*) {
  auto* results = static_cast<float*>(out);
  const auto* values = static_cast<const float*>(in[0]);
  for (size_t i = 0; i < count; ++i) results[i] = kFunction(values[i]);
  return true;
}

double sigmoid(double a) {
  return 1 / (1 + std::exp(-a));
}
double rsqrt(double a) {
  return 1 / std::sqrt(a);
}
double reciprocal(double a) {
  return 1 / a;
}
double frac(double a) {
  return a - std::trunc(a);
}
double sinc(double a) {
  return a == 0 ? 1 : std::sin(kPi * a) / (kPi * a);
}
double deg2rad(double a) {
  return a * (kPi / 180);
}
double rad2deg(double a) {
  return a * (180 / kPi);
}
double rounded(double a) {
  return std::nearbyint(a);
}
double sign(double a) {
  return a > 0 ? 1 : (a < 0 ? -1 : 0);
}
double is_nan(double a) {
  return a != a ? 1 : 0;
}
double is_inf(double a) {
  return std::isinf(a) ? 1 : 0;
}
double is_finite(double a) {
  return std::isfinite(a) ? 1 : 0;
}
double is_posinf(double a) {
  return std::isinf(a) && a > 0 ? 1 : 0;
}
double is_neginf(double a) {
  return std::isinf(a) && a < 0 ? 1 : 0;
}
double sign_bit(double a) {
  return std::signbit(a) ? 1 : 0;
}
double logical_not(double a) {
  return a == 0 ? 1 : 0;
}
double erfinv(double a) {
  if (!(a > -1 && a < 1)) {
    return a == 1 || a == -1 ? a * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  // Starts with Giles' polynomials, then takes Newton steps.
  const double w = -std::log1p(-a * a);
  double x = a;
  if (w < 5) {
    x *= 1.501409350 + (w - 2.5) * (0.246640727 + (w - 2.5) * (-0.00417768164 + (w - 2.5) * -0.00125372503));
  } else {
    x *= 2.83297682 + (std::sqrt(w) - 3) * (1.00167406 + (std::sqrt(w) - 3) * 0.00943887047);
  }
  for (int i = 0; i < 4; ++i) {
    const double rest = a > 0 ? std::erfc(x) - (1 - a) : (1 + a) - std::erfc(-x);
    x += rest / (2 / std::sqrt(kPi) * std::exp(-x * x));
  }
  return x;
}

int64_t same(int64_t a) {
  return a;
}
int64_t negated(int64_t a) {
  return static_cast<int64_t>(0 - static_cast<uint64_t>(a));
}
int64_t absolute(int64_t a) {
  return a < 0 ? negated(a) : a;
}
int64_t sign_of_int(int64_t a) {
  return a > 0 ? 1 : (a < 0 ? -1 : 0);
}
int64_t squared(int64_t a) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(a));
}
int64_t inverted(int64_t a) {
  return ~a;
}
int64_t inverted_bool(int64_t a) {
  return a == 0 ? 1 : 0;
}
int64_t is_negative(int64_t a) {
  return a < 0 ? 1 : 0;
}
int64_t always(int64_t) {
  return 1;
}
int64_t never(int64_t) {
  return 0;
}

// Cheap functions, which the compiler inlines into their loops.
struct Neg {
  template <typename T>
  static T of(T a) {
    return -a;
  }
};
struct Abs {
  template <typename T>
  static T of(T a) {
    return std::fabs(a);
  }
};
struct Floor {
  template <typename T>
  static T of(T a) {
    return std::floor(a);
  }
};
struct Square {
  template <typename T>
  static T of(T a) {
    return a * a;
  }
};

template <double (*kFunction)(double)>
constexpr MapOp float_result() {
  return {{nullptr, call_double<kFunction>, nullptr}, MapResult::kFloat, true};
}
template <double (*kFunction)(double), int64_t (*kInteger)(int64_t)>
constexpr MapOp same_result(bool takes_bools) {
  return {{nullptr, call_double<kFunction>, call_int<kInteger>}, MapResult::kSame, takes_bools};
}
template <double (*kFunction)(double), int64_t (*kInteger)(int64_t)>
constexpr MapOp bool_result() {
  return {{nullptr, call_double<kFunction>, call_int<kInteger>}, MapResult::kBool, true};
}

constexpr MapOp kExp = {{call_float<std::exp>, call_double<std::exp>, nullptr}, MapResult::kFloat, true};
constexpr MapOp kLog = {{call_float<std::log>, call_double<std::log>, nullptr}, MapResult::kFloat, true};
constexpr MapOp kSigmoid = {{sigmoids, call_double<sigmoid>, nullptr}, MapResult::kFloat, true};
constexpr MapOp kTanh = {{call_float<std::tanh>, call_double<std::tanh>, nullptr}, MapResult::kFloat, true};
constexpr MapOp kSqrt = {{square_roots, call_double<std::sqrt>, nullptr}, MapResult::kFloat, true};
constexpr MapOp kAcos = float_result<std::acos>(), kAcosh = float_result<std::acosh>(),
                kAsin = float_result<std::asin>(), kAsinh = float_result<std::asinh>(),
                kAtan = float_result<std::atan>(), kAtanh = float_result<std::atanh>(), kCos = float_result<std::cos>(),
                kCosh = float_result<std::cosh>(), kErf = float_result<std::erf>(), kErfc = float_result<std::erfc>(),
                kErfinv = float_result<erfinv>(), kExp2 = float_result<std::exp2>(),
                kExpm1 = float_result<std::expm1>(), kLgamma = float_result<std::lgamma>(),
                kLog10 = float_result<std::log10>(), kLog1p = float_result<std::log1p>(),
                kLog2 = float_result<std::log2>(), kReciprocal = float_result<reciprocal>(),
                kRsqrt = float_result<rsqrt>(), kSin = float_result<std::sin>(), kSinc = float_result<sinc>(),
                kSinh = float_result<std::sinh>(), kTan = float_result<std::tan>(), kDeg2rad = float_result<deg2rad>(),
                kRad2deg = float_result<rad2deg>();
constexpr MapOp kFrac = floats_only<frac>();
constexpr MapOp kCeil = same_result<std::ceil, same>(false), kRound = same_result<rounded, same>(false),
                kTrunc = same_result<std::trunc, same>(false), kSame = same_result<std::trunc, same>(true),
                kSign = same_result<sign, sign_of_int>(true);
constexpr MapOp kIsNan = bool_result<is_nan, never>(), kIsInf = bool_result<is_inf, never>(),
                kIsFinite = bool_result<is_finite, always>(), kIsPosinf = bool_result<is_posinf, never>(),
                kIsNeginf = bool_result<is_neginf, never>(), kSignbit = bool_result<sign_bit, is_negative>(),
                kLogicalNot = bool_result<logical_not, inverted_bool>();
constexpr MapOp kNeg = cheap<Neg, negated>(false), kAbs = cheap<Abs, absolute>(true),
                kFloor = cheap<Floor, same>(false), kSquare = cheap<Square, squared>(false);
constexpr MapOp kBitwiseNot = {{nullptr, nullptr, call_int<inverted>}, MapResult::kSame, false};
constexpr MapOp kBoolNot = {{nullptr, nullptr, call_int<inverted_bool>}, MapResult::kSame, true};

template <bool kInPlace>
bool bitwise_not(Call& call) {
  Tensor* tensor;
  if (!tensor_at(call, 0, &tensor)) return false;
  return run_one(call, tensor->dtype == ScalarType::kBool ? kBoolNot : kBitwiseNot, nullptr, kInPlace);
}

// Functions with numbers: p[0] is the second argument, and so on.
struct Logit {
  static double of(double a, const double* p) {
    const double x = p[0] >= 0 ? std::min(std::max(a, p[0]), 1 - p[0]) : a;
    return std::log(x / (1 - x));
  }
};
struct NanToNum {
  static double of(double a, const double* p) {
    if (a != a) return p[0];
    return std::isinf(a) ? (a > 0 ? p[1] : p[2]) : a;
  }
};
// Rounds in the tensor's own precision: 100 * 1.015f is rounded to 101.5, and that to 102.
struct RoundDecimals {
  template <typename T>
  static T of(T a, const T* p) {
    return p[1] != 0 ? std::nearbyint(a / p[0]) * p[0] : std::nearbyint(a * p[0]) / p[0];
  }
};

constexpr MapOp kLogit = with_numbers<Logit>(MapResult::kFloat), kNanToNum = with_numbers<NanToNum>();
constexpr MapOp kRoundDecimals = {
    {map_one_with<float, RoundDecimals>, map_one_with<double, RoundDecimals>, nullptr}, MapResult::kSame, false};

bool logit(Call& call) {
  Parameters parameters;
  double eps;
  if (!optional_number_at(call, 1, -1, &eps)) return false;
  parameters.set(0, eps);
  return run_one(call, kLogit, &parameters, false);
}

bool run_nan_to_num(Call& call, bool in_place) {
  Tensor* tensor;
  double numbers[3];
  if (!tensor_at(call, 0, &tensor)) return false;
  const double most = tensor->dtype == ScalarType::kFloat64   ? std::numeric_limits<double>::max()
                      : tensor->dtype == ScalarType::kFloat16 ? 65504
                                                              : std::numeric_limits<float>::max();
  Parameters parameters;
  for (uint32_t i = 0; i < 3; ++i) {
    if (!optional_number_at(call, i + 1, i == 0 ? 0 : (i == 1 ? most : -most), &numbers[i])) return false;
    parameters.set(i, numbers[i]);
  }
  if (!is_floating(tensor->dtype)) return in_place ? give_argument(call, 0) : of_one<kSame>(call);
  return run_one(call, kNanToNum, &parameters, in_place);
}
template <bool kInPlace>
bool nan_to_num(Call& call) {
  return run_nan_to_num(call, kInPlace);
}

bool round_decimals(Call& call) {
  int64_t decimals;
  if (!int_at(call, 1, &decimals)) return false;
  decimals = std::min<int64_t>(std::max<int64_t>(decimals, -400), 400);
  Parameters parameters;
  parameters.set(0, std::pow(10.0, static_cast<double>(decimals < 0 ? -decimals : decimals)));
  parameters.set(1, decimals < 0 ? 1.0 : 0.0);
  return run_one(call, kRoundDecimals, &parameters, false);
}

bool positive(Call& call) {
  Tensor* tensor;
  return tensor_at(call, 0, &tensor) && give_argument(call, 0);
}

constexpr OperatorRow kRows[] = {
    PROGRAM_ROWS_OF_ONE("abs", kAbs),
    PROGRAM_ROWS_OF_ONE("absolute", kAbs),
    PROGRAM_ROWS_OF_ONE("acos", kAcos),
    PROGRAM_ROWS_OF_ONE("acosh", kAcosh),
    PROGRAM_ROWS_OF_ONE("asin", kAsin),
    PROGRAM_ROWS_OF_ONE("asinh", kAsinh),
    PROGRAM_ROWS_OF_ONE("atan", kAtan),
    PROGRAM_ROWS_OF_ONE("atanh", kAtanh),
    PROGRAM_ROWS_OF_ONE("ceil", kCeil),
    PROGRAM_ROWS_OF_ONE("cos", kCos),
    PROGRAM_ROWS_OF_ONE("cosh", kCosh),
    PROGRAM_ROWS_OF_ONE("deg2rad", kDeg2rad),
    PROGRAM_ROWS_OF_ONE("erf", kErf),
    PROGRAM_ROWS_OF_ONE("erfc", kErfc),
    PROGRAM_ROWS_OF_ONE("erfinv", kErfinv),
    PROGRAM_ROWS_OF_ONE("exp", kExp),
    PROGRAM_ROWS_OF_ONE("exp2", kExp2),
    PROGRAM_ROWS_OF_ONE("expm1", kExpm1),
    PROGRAM_ROWS_OF_ONE("fix", kTrunc),
    PROGRAM_ROWS_OF_ONE("floor", kFloor),
    PROGRAM_ROWS_OF_ONE("frac", kFrac),
    PROGRAM_ROWS_OF_ONE("lgamma", kLgamma),
    PROGRAM_ROWS_OF_ONE("log", kLog),
    PROGRAM_ROWS_OF_ONE("log10", kLog10),
    PROGRAM_ROWS_OF_ONE("log1p", kLog1p),
    PROGRAM_ROWS_OF_ONE("log2", kLog2),
    PROGRAM_ROWS_OF_ONE("logical_not", kLogicalNot),
    PROGRAM_ROWS_OF_ONE("neg", kNeg),
    PROGRAM_ROWS_OF_ONE("negative", kNeg),
    PROGRAM_ROWS_OF_ONE("rad2deg", kRad2deg),
    PROGRAM_ROWS_OF_ONE("reciprocal", kReciprocal),
    PROGRAM_ROWS_OF_ONE("round", kRound),
    PROGRAM_ROWS_OF_ONE("rsqrt", kRsqrt),
    PROGRAM_ROWS_OF_ONE("sgn", kSign),
    PROGRAM_ROWS_OF_ONE("sigmoid", kSigmoid),
    PROGRAM_ROWS_OF_ONE("sign", kSign),
    PROGRAM_ROWS_OF_ONE("sin", kSin),
    PROGRAM_ROWS_OF_ONE("sinc", kSinc),
    PROGRAM_ROWS_OF_ONE("sinh", kSinh),
    PROGRAM_ROWS_OF_ONE("sqrt", kSqrt),
    PROGRAM_ROWS_OF_ONE("square", kSquare),
    PROGRAM_ROWS_OF_ONE("tan", kTan),
    PROGRAM_ROWS_OF_ONE("tanh", kTanh),
    PROGRAM_ROWS_OF_ONE("trunc", kTrunc),
    {"prim::abs", 1, 1, of_one<kAbs>},
    {"aten::isnan", 1, 1, of_one<kIsNan>},
    {"aten::isinf", 1, 1, of_one<kIsInf>},
    {"aten::isfinite", 1, 1, of_one<kIsFinite>},
    {"aten::isposinf", 1, 1, of_one<kIsPosinf>},
    {"aten::isneginf", 1, 1, of_one<kIsNeginf>},
    {"aten::signbit", 1, 1, of_one<kSignbit>},
    {"aten::positive", 1, 1, positive},
    {"aten::bitwise_not", 1, 1, bitwise_not<false>},
    {"aten::bitwise_not_", 1, 1, bitwise_not<true>},
    {"aten::logit", 2, 1, logit},
    {"aten::nan_to_num", 4, 1, nan_to_num<false>},
    {"aten::nan_to_num_", 4, 1, nan_to_num<true>},
    {"aten::round.decimals", 2, 1, round_decimals},
};

}  // namespace

const OperatorTable unary_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
