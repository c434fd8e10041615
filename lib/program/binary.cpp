// Operators on two or three tensors or numbers, element by element.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "lib/program/mapping.h"

namespace nnapi_shim::program {

namespace {

// Whole numbers overflow as unsigned ones do.
template <typename T>
T sum(T a, T b) {
  return a + b;
}
template <>
int64_t sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <typename T>
T product(T a, T b) {
  return a * b;
}
template <>
int64_t product(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
template <typename T>
T difference(T a, T b) {
  return a - b;
}
template <>
int64_t difference(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
template <typename T>
bool is_nan(T a) {
  return a != a;
}

#define PROGRAM_FUNCTION_OF_TWO(name, result) \
  struct name {                               \
    template <typename T>                     \
    static T of(T a, T b) {                   \
      return static_cast<T>(result);          \
    }                                         \
  };
PROGRAM_FUNCTION_OF_TWO(Add, sum(a, b))
PROGRAM_FUNCTION_OF_TWO(Sub, difference(a, b))
PROGRAM_FUNCTION_OF_TWO(Rsub, difference(b, a))
PROGRAM_FUNCTION_OF_TWO(Mul, product(a, b))
PROGRAM_FUNCTION_OF_TWO(Div, a / b)
PROGRAM_FUNCTION_OF_TWO(Maximum, is_nan(a) || a > b ? a : b)
PROGRAM_FUNCTION_OF_TWO(Minimum, is_nan(a) || a < b ? a : b)
PROGRAM_FUNCTION_OF_TWO(Fmax, is_nan(b) || a > b ? a : b)
PROGRAM_FUNCTION_OF_TWO(Fmin, is_nan(b) || a < b ? a : b)
PROGRAM_FUNCTION_OF_TWO(Eq, a == b)
PROGRAM_FUNCTION_OF_TWO(Ne, a != b)
PROGRAM_FUNCTION_OF_TWO(Lt, a < b)
PROGRAM_FUNCTION_OF_TWO(Le, a <= b)
PROGRAM_FUNCTION_OF_TWO(Gt, a > b)
PROGRAM_FUNCTION_OF_TWO(Ge, a >= b)
PROGRAM_FUNCTION_OF_TWO(LogicalAnd, a != 0 && b != 0)
PROGRAM_FUNCTION_OF_TWO(LogicalOr, a != 0 || b != 0)
PROGRAM_FUNCTION_OF_TWO(LogicalXor, (a != 0) != (b != 0))
PROGRAM_FUNCTION_OF_TWO(BitwiseAnd, a& b)
PROGRAM_FUNCTION_OF_TWO(BitwiseOr, a | b)
PROGRAM_FUNCTION_OF_TWO(BitwiseXor, a ^ b)
PROGRAM_FUNCTION_OF_TWO(ShiftLeft, b<0 || b> 63 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << b))
PROGRAM_FUNCTION_OF_TWO(ShiftRight, a >> (b < 0 || b > 63 ? 63 : b))
PROGRAM_FUNCTION_OF_TWO(Atan2, std::atan2(a, b))
PROGRAM_FUNCTION_OF_TWO(Hypot, std::hypot(a, b))
PROGRAM_FUNCTION_OF_TWO(Copysign, std::copysign(a, b))
PROGRAM_FUNCTION_OF_TWO(Heaviside, is_nan(a) ? a : (a == 0 ? b : (a < 0 ? 0 : 1)))
PROGRAM_FUNCTION_OF_TWO(Xlogy, is_nan(b) ? b : (a == 0 ? 0 : a * std::log(b)))
PROGRAM_FUNCTION_OF_TWO(Logaddexp,
                        std::isinf(a) && a == b ? a : std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b))))
#undef PROGRAM_FUNCTION_OF_TWO

template <bool kReversed>
struct AddScaled {
  template <typename T>
  static T of(T a, T b, const T* alpha) {
    return kReversed ? sum(b, product(alpha[0], a)) : sum(a, product(alpha[0], b));
  }
};

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
constexpr MapOp all_classes(MapResult result, bool takes_bools = true) {
  return {{map_two<float, F>, map_two<double, F>, map_two<int64_t, F>}, result, takes_bools};
}
template <typename F>
constexpr MapOp without_floats() {
  return {{nullptr, nullptr, map_two<int64_t, F>}, MapResult::kSame, true};
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
constexpr MapOp kEq = all_classes<Eq>(MapResult::kBool);
constexpr MapOp kNe = all_classes<Ne>(MapResult::kBool);
constexpr MapOp kLt = all_classes<Lt>(MapResult::kBool);
constexpr MapOp kLe = all_classes<Le>(MapResult::kBool);
constexpr MapOp kGt = all_classes<Gt>(MapResult::kBool);
constexpr MapOp kGe = all_classes<Ge>(MapResult::kBool);
constexpr MapOp kLogicalAnd = {
    {nullptr, map_two<double, LogicalAnd>, map_two<int64_t, LogicalAnd>}, MapResult::kBool, true};
constexpr MapOp kLogicalOr = {
    {nullptr, map_two<double, LogicalOr>, map_two<int64_t, LogicalOr>}, MapResult::kBool, true};
constexpr MapOp kLogicalXor = {
    {nullptr, map_two<double, LogicalXor>, map_two<int64_t, LogicalXor>}, MapResult::kBool, true};
constexpr MapOp kBitwiseAnd = without_floats<BitwiseAnd>();
constexpr MapOp kBitwiseOr = without_floats<BitwiseOr>();
constexpr MapOp kBitwiseXor = without_floats<BitwiseXor>();
constexpr MapOp kShiftLeft = without_floats<ShiftLeft>();
constexpr MapOp kShiftRight = without_floats<ShiftRight>();
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

bool run_two(Call& call, const MapOp& op, const Parameters* parameters, bool in_place) {
  Operand operands[2];
  Tensor* target = nullptr;
  if (in_place && !tensor_at(call, 0, &target)) return false;
  if (!operands[0].read(call, 0) || !operands[1].read(call, 1)) return false;
  return run_map(call, op, parameters, 2, operands, 0, target);
}

template <const MapOp& kOp>
bool of_two(Call& call) {
  return run_two(call, kOp, nullptr, false);
}
template <const MapOp& kOp>
bool of_two_in_place(Call& call) {
  return run_two(call, kOp, nullptr, true);
}

// add, sub and rsub: the third argument scales the second one, or for rsub the first one.
bool scaled(Call& call, const MapOp& plain, const MapOp& op, bool is_difference, bool in_place) {
  const Value& alpha = call.input(2);
  if (!is_number(alpha)) return call.context.fail("alpha is %s, needs a number", kind_name(alpha));
  if (number_of(alpha) == 1) return run_two(call, plain, nullptr, in_place);
  Parameters parameters;
  parameters.set(0, alpha);
  if (is_difference) {
    parameters.of_float[0] = -parameters.of_float[0];
    parameters.of_double[0] = -parameters.of_double[0];
    parameters.of_int[0] = difference<int64_t>(0, parameters.of_int[0]);
    if (call.input(0).is_tensor() && call.input(0).tensor().dtype == ScalarType::kBool) {
      return run_two(call, plain, nullptr, in_place);
    }
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

template <bool kInPlace>
bool pow(Call& call) {
  const Value& exponent = call.input(1);
  if (call.input(0).is_tensor() && !is_floating(call.input(0).tensor().dtype) && exponent.tag() == Tag::kInt &&
      exponent.as_int() < 0) {
    return call.context.fail("whole numbers have no powers below 0");
  }
  return run_two(call, kPow, nullptr, kInPlace);
}

bool float_power(Call& call) {
  if (!of_two<kPow>(call)) return false;
  Operand operands[2];
  operands[0].read(call, 0);
  operands[1].read(call, 1);
  Value both[2];
  for (uint32_t i = 0; i < 2; ++i) {
    const Tensor& tensor = operands[i].tensor();
    Tensor* copy = make_tensor(call.context.pool, ScalarType::kFloat64, tensor.rank, tensor.sizes);
    if (copy == nullptr) return call.context.fail_memory();
    copy_elements(tensor, *copy);
    both[i] = Value(copy);
  }
  const Value* inputs[2] = {&both[0], &both[1]};
  Call inner{call.context, inputs, 2, call.outputs, 1};
  return of_two<kPow>(inner);
}

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

constexpr MapOp kWhere = {
    {map_three<float, Where>, map_three<double, Where>, map_three<int64_t, Where>}, MapResult::kSame, true};
constexpr MapOp kClamp = {
    {map_three<float, Clamp>, map_three<double, Clamp>, map_three<int64_t, Clamp>}, MapResult::kSame, false};
constexpr MapOp kAddcmul = {
    {nullptr, map_three<double, Addcmul>, map_three<int64_t, Addcmul>}, MapResult::kSame, false};
constexpr MapOp kAddcdiv = {{nullptr, map_three<double, Addcdiv>, nullptr}, MapResult::kSame, false};
constexpr MapOp kLerp = {{nullptr, map_three<double, Lerp>, nullptr}, MapResult::kSame, false};

bool need_condition(Call& call, const Tensor& tensor) {
  return tensor.dtype == ScalarType::kBool || tensor.dtype == ScalarType::kUInt8 ||
         call.context.fail("the condition is %s, needs bools", dtype_name(tensor.dtype));
}

bool where(Call& call) {
  Tensor* condition;
  Operand operands[3];
  if (!tensor_at(call, 0, &condition) || !need_condition(call, *condition)) return false;
  for (uint32_t i = 0; i < 3; ++i) {
    if (!operands[i].read(call, i)) return false;
  }
  return run_map(call, kWhere, nullptr, 3, operands, 1, nullptr);
}

bool run_masked_fill(Call& call, bool in_place) {
  Tensor *tensor, *mask;
  Operand operands[3];
  if (!tensor_at(call, 0, &tensor) || !tensor_at(call, 1, &mask) || !need_condition(call, *mask)) return false;
  if (!operands[0].read(call, 1) || !operands[1].read(call, 2) || !operands[2].read(call, 0)) return false;
  if (operands[1].tensor().rank != 0) return call.context.fail("masked_fill() needs a value without axes");
  // The value takes the tensor's dtype.
  if (!is_floating(tensor->dtype) && is_floating(operands[1].tensor().dtype)) {
    return call.context.fail("the value is no %s", dtype_name(tensor->dtype));
  }
  if (!operands[1].round_to(call.context.pool, tensor->dtype)) return call.context.fail_memory();
  return run_map(call, kWhere, nullptr, 3, operands, 1, in_place ? tensor : nullptr);
}
template <bool kInPlace>
bool masked_fill(Call& call) {
  return run_masked_fill(call, kInPlace);
}

// The tensor, then the lower and upper bound (tensors, numbers or None) at the arguments' numbers; 0: there is none.
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
  // A missing bound must not be cut to the dtype: it is another of the two.
  if (!has_low || !has_high) {
    operands[0].add_to(promotion);
    const Value& bound = call.input(has_low ? low : high);
    Operand two[2];
    two[0].set(call.input(0));
    two[1].set(bound);
    if (!is_real) return run_map(call, has_low ? kMaximum : kMinimum, nullptr, 2, two, 0, in_place ? tensor : nullptr);
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
    if (!operands[i].read(call, i) || !operands[i].round_to(call.context.pool, tensor->dtype)) return false;
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

bool same_sizes(const Tensor& a, const Tensor& b) {
  return a.rank == b.rank && std::equal(a.sizes, a.sizes + a.rank, b.sizes);
}

bool is_same_size(Call& call) {
  Tensor *a, *b;
  if (!tensor_at(call, 0, &a) || !tensor_at(call, 1, &b)) return false;
  call.outputs[0] = Value(same_sizes(*a, *b));
  return true;
}

struct IsClose {
  static double of(double a, double b, const double* bounds) {
    if (a == b || (bounds[2] != 0 && is_nan(a) && is_nan(b))) return 1;
    const double most = bounds[1] + std::fabs(bounds[0] * b);
    return std::isfinite(most) && std::fabs(a - b) <= most ? 1 : 0;
  }
};
constexpr MapOp kIsClose = {{nullptr, map_two_with<double, IsClose>, nullptr}, MapResult::kBool, true};

bool isclose(Call& call) {
  Tensor *a, *b;
  Parameters parameters;
  double bound;
  bool equal_nan;
  if (!tensor_at(call, 0, &a) || !tensor_at(call, 1, &b) || !bool_at(call, 4, &equal_nan)) return false;
  for (uint32_t i = 0; i < 2; ++i) {
    if (!number_at(call, 2 + i, &bound)) return false;
    parameters.set(i, bound);
  }
  parameters.set(2, equal_nan ? 1.0 : 0.0);
  if (a->dtype != b->dtype) return call.context.fail("isclose() needs tensors of the same dtype");
  if (is_floating(a->dtype)) return run_two(call, kIsClose, &parameters, false);
  Value both[2] = {Value(converted_tensor(call.context.pool, *a, ScalarType::kFloat64)),
                   Value(converted_tensor(call.context.pool, *b, ScalarType::kFloat64))};
  if (both[0].is_none() || both[1].is_none()) return call.context.fail_memory();
  const Value* inputs[2] = {&both[0], &both[1]};
  Call inner{call.context, inputs, 2, call.outputs, 1};
  return run_two(inner, kIsClose, &parameters, false);
}

// The result of a comparison: whether all its elements are true.
bool give_all(Call& call) {
  const Tensor& tensor = call.outputs[0].tensor();
  const auto* bools = tensor.data<uint8_t>();
  const int64_t count = tensor.numel();  // of row-major or channels_last elements, which are dense
  call.outputs[0] = Value(std::find(bools, bools + count, 0) == bools + count);
  return true;
}

bool allclose(Call& call) {
  return isclose(call) && give_all(call);
}

bool equal(Call& call) {
  Tensor *a, *b;
  if (!tensor_at(call, 0, &a) || !tensor_at(call, 1, &b)) return false;
  if (!same_sizes(*a, *b)) {
    call.outputs[0] = Value(false);
    return true;
  }
  return of_two<kEq>(call) && give_all(call);
}

#define PROGRAM_ROWS_OF_TWO(name, op)                          \
  {"aten::" name ".Tensor,Scalar", 2, 1, of_two<op>}, {        \
    "aten::" name "_.Tensor,Scalar", 2, 1, of_two_in_place<op> \
  }

constexpr OperatorRow kRows[] = {
    PROGRAM_ROWS_OF_TWO("eq", kEq),
    PROGRAM_ROWS_OF_TWO("ge", kGe),
    PROGRAM_ROWS_OF_TWO("gt", kGt),
    PROGRAM_ROWS_OF_TWO("le", kLe),
    PROGRAM_ROWS_OF_TWO("lt", kLt),
    PROGRAM_ROWS_OF_TWO("ne", kNe),
    PROGRAM_ROWS_OF_TWO("not_equal", kNe),
    PROGRAM_ROWS_OF_TWO("greater", kGt),
    PROGRAM_ROWS_OF_TWO("greater_equal", kGe),
    PROGRAM_ROWS_OF_TWO("less", kLt),
    PROGRAM_ROWS_OF_TWO("less_equal", kLe),
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
    {"aten::logical_and", 2, 1, of_two<kLogicalAnd>},
    {"aten::logical_and_", 2, 1, of_two_in_place<kLogicalAnd>},
    {"aten::logical_or", 2, 1, of_two<kLogicalOr>},
    {"aten::logical_or_", 2, 1, of_two_in_place<kLogicalOr>},
    {"aten::logical_xor", 2, 1, of_two<kLogicalXor>},
    {"aten::logical_xor_", 2, 1, of_two_in_place<kLogicalXor>},
    {"aten::bitwise_and.Tensor,Scalar,Scalar_Tensor", 2, 1, of_two<kBitwiseAnd>},
    {"aten::bitwise_and_.Tensor,Scalar", 2, 1, of_two_in_place<kBitwiseAnd>},
    {"aten::bitwise_or.Tensor,Scalar,Scalar_Tensor", 2, 1, of_two<kBitwiseOr>},
    {"aten::bitwise_or_.Tensor,Scalar", 2, 1, of_two_in_place<kBitwiseOr>},
    {"aten::bitwise_xor.Tensor,Scalar,Scalar_Tensor", 2, 1, of_two<kBitwiseXor>},
    {"aten::bitwise_xor_.Tensor,Scalar", 2, 1, of_two_in_place<kBitwiseXor>},
    {"aten::__and__.Tensor,Scalar", 2, 1, of_two<kBitwiseAnd>},
    {"aten::__or__.Tensor,Scalar", 2, 1, of_two<kBitwiseOr>},
    {"aten::__xor__.Tensor,Scalar", 2, 1, of_two<kBitwiseXor>},
    {"aten::__iand__.Tensor,Scalar", 2, 1, of_two_in_place<kBitwiseAnd>},
    {"aten::__ior__.Tensor,Scalar", 2, 1, of_two_in_place<kBitwiseOr>},
    {"aten::__ixor__.Tensor,Scalar", 2, 1, of_two_in_place<kBitwiseXor>},
    {"aten::__lshift__.Tensor,Scalar", 2, 1, of_two<kShiftLeft>},
    {"aten::__rshift__.Tensor,Scalar", 2, 1, of_two<kShiftRight>},
    {"aten::bitwise_left_shift.Tensor,Tensor_Scalar,Scalar_Tensor", 2, 1, of_two<kShiftLeft>},
    {"aten::bitwise_right_shift.Tensor,Tensor_Scalar,Scalar_Tensor", 2, 1, of_two<kShiftRight>},
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
    {"aten::isclose", 5, 1, isclose},
    {"aten::allclose", 5, 1, allclose},
    {"aten::equal", 2, 1, equal},
    {"aten::is_same_size", 2, 1, is_same_size},
};

}  // namespace

const OperatorTable binary_operators = {kRows, std::size(kRows)};

}  // namespace nnapi_shim::program
