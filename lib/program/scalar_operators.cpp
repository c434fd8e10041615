// SPDX-License-Identifier: BSD-3-Clause
// Operators on numbers. Each looks at the kinds of its arguments, as PyTorch's overloads on int, float and Scalar do:
// two ints give an int, else the numbers are floats. Bools count as ints.
#include <cmath>
#include <cstring>

#include "lib/program/arguments.h"
#include "lib/program/containers.h"
#include "lib/program/operator_table.h"

namespace nnapi_shim::program {

namespace {

struct Pair {
  bool are_ints;
  int64_t a, b;  // valid if both are ints
  double x, y;
};

bool read_pair(Call& call, Pair* pair) {
  const Value &first = call.input(0), &second = call.input(1);
  if (!number_at(call, 0, &pair->x) || !number_at(call, 1, &pair->y)) return false;
  pair->are_ints = first.tag() != Tag::kFloat && second.tag() != Tag::kFloat;
  pair->a = pair->are_ints ? first.as_int() : 0;
  pair->b = pair->are_ints ? second.as_int() : 0;
  return true;
}

int64_t wrapped(uint64_t value) {
  return static_cast<int64_t>(value);
}

bool give_input(Call& call) {
  call.outputs[0] = call.input(0);
  return true;
}

bool give_nothing(Call& /*call*/) {
  return true;
}

bool fail_zero(Call& call) {
  return call.context.fail("an integer is divided by zero");
}

// Return the quotient and remainder as Python does: rounded towards minus infinity.
int64_t floor_quotient(int64_t a, int64_t b) {
  if (b == -1) return wrapped(0 - static_cast<uint64_t>(a));
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

int64_t floor_remainder(int64_t a, int64_t b) {
  if (b == -1) return 0;
  const int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

bool add(Call& call) {
  Pair p{};
  if (!read_pair(call, &p)) return false;
  return p.are_ints ? give_number(call, wrapped(static_cast<uint64_t>(p.a) + static_cast<uint64_t>(p.b)))
                    : give_number(call, p.x + p.y);
}

bool sub(Call& call) {
  Pair p{};
  if (!read_pair(call, &p)) return false;
  return p.are_ints ? give_number(call, wrapped(static_cast<uint64_t>(p.a) - static_cast<uint64_t>(p.b)))
                    : give_number(call, p.x - p.y);
}

bool mul(Call& call) {
  Pair p{};
  if (!read_pair(call, &p)) return false;
  return p.are_ints ? give_number(call, wrapped(static_cast<uint64_t>(p.a) * static_cast<uint64_t>(p.b)))
                    : give_number(call, p.x * p.y);
}

bool div(Call& call) {
  Pair p{};
  return read_pair(call, &p) && give_number(call, p.x / p.y);
}

bool floordiv(Call& call) {
  Pair p{};
  if (!read_pair(call, &p)) return false;
  if (!p.are_ints) return give_number(call, std::floor(p.x / p.y));
  return p.b != 0 ? give_number(call, floor_quotient(p.a, p.b)) : fail_zero(call);
}

bool remainder(Call& call) {
  Pair p{};
  if (!read_pair(call, &p)) return false;
  if (!p.are_ints) return give_number(call, std::fmod(p.y + std::fmod(p.x, p.y), p.y));
  return p.b != 0 ? give_number(call, floor_remainder(p.a, p.b)) : fail_zero(call);
}

bool divmod(Call& call) {
  Pair p{};
  if (!read_pair(call, &p)) return false;
  if (p.are_ints ? p.b == 0 : p.y == 0) return fail_zero(call);
  if (p.are_ints) {
    call.outputs[0] = Value(floor_quotient(p.a, p.b));
    call.outputs[1] = Value(floor_remainder(p.a, p.b));
    return true;
  }
  double rest = std::fmod(p.x, p.y);
  if ((rest < 0) != (p.y < 0)) rest += p.y;
  call.outputs[0] = Value((p.x - rest) / p.y);
  call.outputs[1] = Value(rest);
  return true;
}

bool read_power(Call& call, Pair* pair) {
  if (!read_pair(call, pair)) return false;
  return pair->x != 0 || !(pair->y < 0) || call.context.fail("0 has no power below 0");
}

bool power(Call& call) {
  Pair p{};
  return read_power(call, &p) && give_number(call, std::pow(p.x, p.y));
}

bool smaller(Call& call) {
  Pair p{};
  if (!read_pair(call, &p)) return false;
  return p.are_ints ? give_number(call, p.a < p.b ? p.a : p.b) : give_number(call, p.x < p.y ? p.x : p.y);
}

bool larger(Call& call) {
  Pair p{};
  if (!read_pair(call, &p)) return false;
  return p.are_ints ? give_number(call, p.a > p.b ? p.a : p.b) : give_number(call, p.x > p.y ? p.x : p.y);
}

// Gives the smallest or largest number of a list.
bool extreme(Call& call, bool is_largest) {
  Sequence* list = nullptr;
  if (!list_at(call, 0, &list)) return false;
  if (list->count == 0) return call.context.fail("the list is empty, elements are needed");
  const Value* best = nullptr;
  for (uint32_t i = 0; i < list->count; ++i) {
    const Value& value = list->values[i];
    if (!is_number(value)) return call.context.fail("the list holds %s, numbers are needed", kind_name(value));
    if (best == nullptr) {
      best = &value;
      continue;
    }
    const bool are_ints = value.tag() != Tag::kFloat && best->tag() != Tag::kFloat;
    const Value &low = is_largest ? *best : value, &high = is_largest ? value : *best;
    if (are_ints ? low.as_int() < high.as_int() : number_of(low) < number_of(high)) best = &value;
  }
  call.outputs[0] = *best;
  return true;
}

bool smallest_of(Call& call) {
  return extreme(call, false);
}

bool largest_of(Call& call) {
  return extreme(call, true);
}

bool equal(Call& call) {
  bool is_equal = false;
  return equals(call.context, call.input(0), call.input(1), &is_equal) && give_number(call, is_equal);
}

bool unequal(Call& call) {
  bool is_equal = false;
  return equals(call.context, call.input(0), call.input(1), &is_equal) && give_number(call, !is_equal);
}

enum class Order { kLess, kEqual, kGreater, kNone };  // none: NaN

bool order_of(Call& call, Order* order) {
  const Value &first = call.input(0), &second = call.input(1);
  if (first.tag() == Tag::kString && second.tag() == Tag::kString) {
    const int sign = std::strcmp(first.string().text(), second.string().text());
    *order = sign < 0 ? Order::kLess : sign > 0 ? Order::kGreater : Order::kEqual;
    return true;
  }
  Pair p{};
  if (!read_pair(call, &p)) return false;
  if (p.are_ints) {
    *order = p.a < p.b ? Order::kLess : p.a > p.b ? Order::kGreater : Order::kEqual;
  } else {
    *order = p.x < p.y ? Order::kLess : p.x > p.y ? Order::kGreater : p.x == p.y ? Order::kEqual : Order::kNone;
  }
  return true;
}

bool less(Call& call) {
  Order order{};
  return order_of(call, &order) && give_number(call, order == Order::kLess);
}

bool less_equal(Call& call) {
  Order order{};
  return order_of(call, &order) && give_number(call, order == Order::kLess || order == Order::kEqual);
}

bool greater(Call& call) {
  Order order{};
  return order_of(call, &order) && give_number(call, order == Order::kGreater);
}

bool greater_equal(Call& call) {
  Order order{};
  return order_of(call, &order) && give_number(call, order == Order::kGreater || order == Order::kEqual);
}

bool read_bits(Call& call, int64_t* a, int64_t* b) {
  return int_at(call, 0, a) && int_at(call, 1, b);
}

// Gives the result of an operator on bits: a bool for bools, an int for ints.
bool give_bits(Call& call, int64_t bits) {
  return call.input(0).tag() == Tag::kBool ? give_number(call, bits != 0) : give_number(call, bits);
}

bool bits_and(Call& call) {
  int64_t a = 0, b = 0;
  return read_bits(call, &a, &b) && give_bits(call, a & b);
}

bool bits_or(Call& call) {
  int64_t a = 0, b = 0;
  return read_bits(call, &a, &b) && give_bits(call, a | b);
}

bool bits_xor(Call& call) {
  int64_t a = 0, b = 0;
  return read_bits(call, &a, &b) && give_bits(call, a ^ b);
}

bool fail_shift(Call& call, int64_t shift) {
  return call.context.fail("an int is shifted by %lld bits, 0 to 63 are possible", static_cast<long long>(shift));
}

bool shift_left(Call& call) {
  int64_t a = 0, b = 0;
  if (!read_bits(call, &a, &b)) return false;
  return b >= 0 && b < 64 ? give_number(call, wrapped(static_cast<uint64_t>(a) << b)) : fail_shift(call, b);
}

bool shift_right(Call& call) {
  int64_t a = 0, b = 0;
  if (!read_bits(call, &a, &b)) return false;
  return b >= 0 && b < 64 ? give_number(call, a >> b) : fail_shift(call, b);
}

bool logical_not(Call& call) {
  bool value = false;
  return bool_at(call, 0, &value) && give_number(call, !value);
}

bool is_same(const Value& a, const Value& b) {
  if (a.tag() != b.tag()) return false;
  if (a.tag() >= Tag::kString) return a.object() == b.object();
  if (a.tag() == Tag::kFloat) return a.as_float() == b.as_float();
  return a.is_none() || a.tag() == Tag::kDevice || a.as_int() == b.as_int();
}

bool is(Call& call) {
  return give_number(call, is_same(call.input(0), call.input(1)));
}

bool is_not(Call& call) {
  return give_number(call, !is_same(call.input(0), call.input(1)));
}

bool negative(Call& call) {
  double value = 0;
  if (!number_at(call, 0, &value)) return false;
  if (call.input(0).tag() == Tag::kFloat) return give_number(call, -value);
  return give_number(call, wrapped(0 - static_cast<uint64_t>(call.input(0).as_int())));
}

bool absolute(Call& call) {
  double value = 0;
  if (!number_at(call, 0, &value)) return false;
  if (call.input(0).tag() == Tag::kFloat) return give_number(call, std::fabs(value));
  const int64_t number = call.input(0).as_int();
  return give_number(call, number < 0 ? wrapped(0 - static_cast<uint64_t>(number)) : number);
}

template <double (*Function)(double)>
bool of_one(Call& call) {
  double value = 0;
  return number_at(call, 0, &value) && give_number(call, Function(value));
}

template <double (*Function)(double, double)>
bool of_two(Call& call) {
  Pair p{};
  return read_pair(call, &p) && give_number(call, Function(p.x, p.y));
}

bool log_to_base(Call& call) {
  Pair p{};
  return read_pair(call, &p) && give_number(call, std::log(p.x) / std::log(p.y));
}

bool round_down(Call& call) {
  double value = 0;
  if (!number_at(call, 0, &value)) return false;
  return call.input(0).tag() != Tag::kFloat ? give_number(call, call.input(0).as_int())
                                            : give_number(call, int_of(std::floor(value)));
}

bool round_up(Call& call) {
  double value = 0;
  if (!number_at(call, 0, &value)) return false;
  return call.input(0).tag() != Tag::kFloat ? give_number(call, call.input(0).as_int())
                                            : give_number(call, int_of(std::ceil(value)));
}

bool is_nan(Call& call) {
  double value = 0;
  return number_at(call, 0, &value) && give_number(call, std::isnan(value));
}

bool is_infinite(Call& call) {
  double value = 0;
  return number_at(call, 0, &value) && give_number(call, std::isinf(value));
}

bool is_finite(Call& call) {
  double value = 0;
  return number_at(call, 0, &value) && give_number(call, std::isfinite(value));
}

bool range_length(Call& call) {
  int64_t low = 0, high = 0, step = 0;
  if (!int_at(call, 0, &low) || !int_at(call, 1, &high) || !int_at(call, 2, &step)) return false;
  if (step == 0) return call.context.fail("a range's step is 0, another one is needed");
  const auto distance = [](int64_t from, int64_t to) {
    return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
  };
  uint64_t length = 0;
  if (step > 0 && low < high) length = 1 + (distance(low, high) - 1) / static_cast<uint64_t>(step);
  if (step < 0 && low > high) length = 1 + (distance(high, low) - 1) / (0 - static_cast<uint64_t>(step));
  return give_number(call, wrapped(length));
}

bool derive_index(Call& call) {
  int64_t index = 0, start = 0, step = 0;
  if (!int_at(call, 0, &index) || !int_at(call, 1, &start) || !int_at(call, 2, &step)) return false;
  return give_number(
      call, wrapped(static_cast<uint64_t>(start) + static_cast<uint64_t>(index) * static_cast<uint64_t>(step)));
}

bool unwrap(Call& call) {
  if (call.input(0).is_none()) return call.context.fail("None is found, a value is needed");
  return give_input(call);
}

bool give_true(Call& call) {
  return give_number(call, true);
}

bool make_device(Call& call) {
  const Value& name = call.input(0);
  if (name.tag() != Tag::kString || std::strncmp(name.string().text(), "cpu", 3) != 0) {
    return call.context.fail("device %.60s is asked for, this runtime has cpu alone",
                             name.tag() == Tag::kString ? name.string().text() : kind_name(name));
  }
  call.outputs[0] = Value::device();
  return true;
}

#define OVERLOADS "int,float,int_float,float_int"
constexpr OperatorRow kRows[] = {
    {"aten::add.," OVERLOADS, 2, 1, add},
    {"aten::sub.," OVERLOADS, 2, 1, sub},
    {"aten::mul.," OVERLOADS, 2, 1, mul},
    {"aten::div.,int,float", 2, 1, div},
    {"aten::floordiv.," OVERLOADS, 2, 1, floordiv},
    {"aten::remainder.," OVERLOADS, 2, 1, remainder},
    {"aten::divmod." OVERLOADS, 2, 2, divmod},
    // int_to_int too gives a float, though its schema says int.
    {"aten::pow.Scalar_Scalar,int_to_int," OVERLOADS, 2, 1, power},
    {"aten::fmod.," OVERLOADS, 2, 1, of_two<std::fmod>},
    {"aten::mathremainder.," OVERLOADS, 2, 1, of_two<std::remainder>},
    {"aten::atan2.Scalar_Scalar," OVERLOADS, 2, 1, of_two<std::atan2>},
    {"aten::copysign.," OVERLOADS, 2, 1, of_two<std::copysign>},
    {"prim::min.," OVERLOADS, 2, 1, smaller},
    {"prim::max.," OVERLOADS, 2, 1, larger},
    {"prim::min.self_int,self_float,self_bool", 1, 1, smallest_of},
    {"prim::max.self_int,self_float,self_bool", 1, 1, largest_of},
    {"aten::eq.,bool,str,device,int_list,float_list,bool_list,str_list," OVERLOADS, 2, 1, equal},
    {"aten::ne.,bool,str,device,int_list,float_list,bool_list,str_list," OVERLOADS, 2, 1, unequal},
    {"aten::lt.,str," OVERLOADS, 2, 1, less},
    {"aten::le.,str," OVERLOADS, 2, 1, less_equal},
    {"aten::gt.,str," OVERLOADS, 2, 1, greater},
    {"aten::ge.,str," OVERLOADS, 2, 1, greater_equal},
    {"aten::__and__.bool,int", 2, 1, bits_and},
    {"aten::__or__.bool,int", 2, 1, bits_or},
    {"aten::__xor__.bool,int", 2, 1, bits_xor},
    {"aten::__lshift__.int", 2, 1, shift_left},
    {"aten::__rshift__.int", 2, 1, shift_right},
    {"aten::__not__", 1, 1, logical_not},
    {"aten::__is__", 2, 1, is},
    {"aten::__isnot__", 2, 1, is_not},
    {"aten::neg.int,float,Scalar", 1, 1, negative},
    {"prim::abs.int,float,Scalar", 1, 1, absolute},
    {"aten::floor.int,float,Scalar", 1, 1, round_down},
    {"aten::ceil.int,float,Scalar", 1, 1, round_up},
    {"aten::round.int,float,Scalar", 1, 1, of_one<std::nearbyint>},
    {"aten::sqrt.int,float,Scalar", 1, 1, of_one<std::sqrt>},
    {"aten::exp.int,float,Scalar", 1, 1, of_one<std::exp>},
    {"aten::expm1.int,float,Scalar", 1, 1, of_one<std::expm1>},
    {"aten::log.int,float,Scalar", 1, 1, of_one<std::log>},
    {"aten::log.Scalar_Scalar,int_int,float_float,int_float,float_int", 2, 1, log_to_base},
    {"aten::log1p.int,float,Scalar", 1, 1, of_one<std::log1p>},
    {"aten::log10.int,float,Scalar", 1, 1, of_one<std::log10>},
    {"aten::sin.int,float,Scalar", 1, 1, of_one<std::sin>},
    {"aten::cos.int,float,Scalar", 1, 1, of_one<std::cos>},
    {"aten::tan.int,float,Scalar", 1, 1, of_one<std::tan>},
    {"aten::atan.int,float,Scalar", 1, 1, of_one<std::atan>},
    {"aten::tanh.int,float,Scalar", 1, 1, of_one<std::tanh>},
    {"aten::fabs.int,float,Scalar", 1, 1, of_one<std::fabs>},
    {"aten::isnan.float", 1, 1, is_nan},
    {"aten::isinf.float", 1, 1, is_infinite},
    {"aten::isfinite.float", 1, 1, is_finite},
    {"aten::range_length", 3, 1, range_length},
    {"aten::__range_length", 3, 1, range_length},
    {"aten::__derive_index", 3, 1, derive_index},
    {"aten::Size", 1, 1, give_input},
    {"aten::_unwrap_optional", 1, 1, unwrap},
    {"prim::unchecked_unwrap_optional", 1, 1, give_input},
    {"prim::unchecked_cast", 1, 1, give_input},
    {"prim::Uninitialized", 0, 1, give_nothing},
    {"aten::warn", 2, 0, give_nothing},
    {"aten::is_scripting", 0, 1, give_true},
    {"aten::device", 1, 1, make_device},
};
#undef OVERLOADS

}  // namespace

const OperatorTable scalar_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
