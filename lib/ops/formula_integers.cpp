// SPDX-License-Identifier: BSD-3-Clause
// Bits of integers and shifts, where one side is constant, as arithmetic in two's complement: NNAPI has no operations
// on bits. Activations of integers.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include "lib/ops/formulas.h"

namespace nnapi_convert {
namespace {

using at::Tensor;

constexpr int64_t kBits = 31;  // of int32 without its sign; NNAPI has int32 in place of int64

enum class Side { kLeft, kRight };

constexpr Side other_side(Side side) {
  return side == Side::kLeft ? Side::kRight : Side::kLeft;
}

constexpr const char* name_of(Side side) {
  return side == Side::kLeft ? "self" : "other";
}

bool is_integer(const OpArguments& args, const std::string& name) {
  if (!args.input(name)->type()->isSubtypeOf(*c10::TensorType::get())) return false;
  const at::ScalarType dtype = args.tensor(name).dtype;
  return dtype == at::kInt || dtype == at::kLong;
}

// True if one side is computed and of integers, and the other one a constant.
template <Side constant_side>
bool has_constant(const OpArguments& args) {
  const char *computed = name_of(other_side(constant_side)), *constant = name_of(constant_side);
  if (!is_integer(args, computed) || !args.is_constant(constant)) return false;
  const bool is_number = args.input(constant)->type()->kind() != c10::TypeKind::TensorType;
  return is_number || is_integer(args, constant);
}

// Returns the constant side as int64; a number has rank 0.
Tensor constant_of_side(const FormulaArguments& args, Side side) {
  const c10::IValue& value = args.value(name_of(side));
  return constant_of([&] {
    const Tensor given = value.isTensor() ? value.toTensor() : at::scalar_tensor(value.toScalar(), at::kLong);
    return given.to(at::kLong);
  });
}

// Returns the computed side in the dtype of the result.
Tensor computed_side(const FormulaArguments& args, Side constant) {
  const Tensor x = args.tensor(name_of(other_side(constant)));
  const c10::IValue& other = args.value(name_of(constant));
  const at::ScalarType dtype =
      other.isTensor() ? at::result_type(x, other.toTensor()) : at::result_type(x, other.toScalar());
  return x.scalar_type() == dtype ? x : x.to(dtype);
}

// Returns a number computed from constants; the computation is not traced.
int64_t number_of(const std::function<Tensor()>& make) {
  int64_t number = 0;
  (void)constant_of([&] {
    const Tensor made = make();
    number = made.item<int64_t>();
    return made;
  });
  return number;
}

Tensor as_operand(const Tensor& constant, const Tensor& x) {
  return constant_of([&] { return constant.to(x.scalar_type()); });
}

[[noreturn]] void refuse_large(const std::string& what, int64_t value) {
  throw FormulaRefused(fmt::format("{} {}", what, value), "numbers of int32 that arithmetic on int32 can express");
}

// Computes x & (2^count - 1), for negative numbers, too, as the remainder of a division that rounds down.
Tensor low_bits(const Tensor& x, int64_t count) {
  return count == 0 ? Tensor() : at::remainder(x, int64_t{1} << count);
}

// Computes x & mask for a mask that is not negative: sums the bits of each run of ones, [begin, end).
Tensor and_runs(const Tensor& x, int64_t mask) {
  Tensor sum;
  for (int64_t end = 0; end < kBits;) {
    int64_t begin = end;
    while (begin < kBits && ((mask >> begin) & 1) == 0) ++begin;
    for (end = begin; end < kBits && ((mask >> end) & 1) != 0;) ++end;
    if (begin == kBits) break;
    if (end >= kBits) refuse_large("a mask", mask);
    const Tensor below = low_bits(x, begin);
    const Tensor run = below.defined() ? low_bits(x, end) - below : low_bits(x, end);
    sum = sum.defined() ? sum + run : run;
  }
  return sum.defined() ? sum : x * 0;
}

// Computes x & masks, where each mask has at most one bit: the lowest bit of x shifted right by the bit's place, times
// the mask.
Tensor and_single_bits(const Tensor& x, const Tensor& masks) {
  const Tensor divisors = as_operand(constant_of([&] { return masks.clamp_min(1); }), x);
  return at::remainder(at::floor_divide(x, divisors), 2) * as_operand(masks, x);
}

// Computes x & masks for masks that are not negative.
Tensor and_masks(const Tensor& x, const Tensor& masks) {
  if (masks.dim() == 0) return and_runs(x, number_of([&] { return masks; }));
  if (number_of([&] { return masks.bitwise_and(masks - 1).count_nonzero(); }) == 0) return and_single_bits(x, masks);
  Tensor sum;
  for (int64_t bit = 0; bit < kBits; ++bit) {
    const Tensor having = constant_of([&] { return masks.bitwise_and(int64_t{1} << bit); });
    if (number_of([&] { return having.count_nonzero(); }) == 0) continue;
    const Tensor part = and_single_bits(x, having);
    sum = sum.defined() ? sum + part : part;
  }
  return sum;
}

// Computes x & masks for masks of any sign: for a negative mask, x minus the bits that the mask lacks.
Tensor and_constant(const Tensor& x, const Tensor& masks) {
  const Tensor bits = constant_of([&] { return at::where(masks.lt(0), masks.bitwise_not(), masks); });
  const int64_t greatest = number_of([&] { return bits.max(); });
  if (greatest >= (int64_t{1} << kBits)) refuse_large("a mask", greatest);
  const Tensor common = and_masks(x, bits);
  if (number_of([&] { return masks.lt(0).count_nonzero(); }) == 0) return common;
  if (masks.dim() == 0) return x - common;
  const Tensor is_negative = constant_of([&] { return masks.lt(0).to(at::kLong); });
  const Tensor sign = constant_of([&] { return 1 - is_negative * 2; });
  return x * as_operand(is_negative, x) + common * as_operand(sign, x);
}

template <Side constant>
std::vector<Formed> bits_and(const FormulaArguments& args) {
  const Tensor x = computed_side(args, constant);
  return {and_constant(x, constant_of_side(args, constant))};
}

template <Side constant>
std::vector<Formed> bits_or(const FormulaArguments& args) {
  const Tensor x = computed_side(args, constant), bits = constant_of_side(args, constant);
  return {x - and_constant(x, bits) + as_operand(bits, x)};
}

template <Side constant>
std::vector<Formed> bits_xor(const FormulaArguments& args) {
  const Tensor x = computed_side(args, constant), bits = constant_of_side(args, constant);
  const Tensor common = and_constant(x, bits);
  return {x - common + (as_operand(bits, x) - common)};
}

Tensor shift_counts(const FormulaArguments& args) {
  const Tensor counts = constant_of_side(args, Side::kRight);
  const int64_t least = number_of([&] { return counts.min(); });
  if (least < 0) throw FormulaRefused(fmt::format("a shift by {}", least), "0 or more");
  return counts;
}

Tensor powers(const Tensor& counts) {
  return constant_of([&] { return at::bitwise_left_shift(at::ones_like(counts), counts); });
}

std::vector<Formed> shifted_left(const FormulaArguments& args) {
  const Tensor x = computed_side(args, Side::kRight), counts = shift_counts(args);
  const int64_t greatest = number_of([&] { return counts.max(); });
  if (greatest >= kBits) refuse_large("a shift by", greatest);
  return {x * as_operand(powers(counts), x)};
}

// Shifts right as the quotient rounded down, which keeps the sign, as PyTorch does. A shift by all bits leaves the
// sign.
std::vector<Formed> shifted_right(const FormulaArguments& args) {
  const Tensor x = computed_side(args, Side::kRight);
  const Tensor counts = shift_counts(args);
  const int64_t greatest = number_of([&] { return counts.max(); });
  if (greatest >= kBits && counts.dim() > 0) refuse_large("a shift by", greatest);
  if (greatest >= kBits) return {at::lt(x, 0).to(x.scalar_type()) * -1};
  return {at::floor_divide(x, as_operand(powers(counts), x))};
}

bool is_integer_self(const OpArguments& args) {
  return is_integer(args, "self");
}

std::vector<Formed> relu_of_integers(const FormulaArguments& args) {
  return {at::clamp_min(args.tensor("self"), 0)};
}

std::vector<Formed> relu6_of_integers(const FormulaArguments& args) {
  return {at::clamp(args.tensor("self"), 0, 6)};
}

void add_bits(Formulas& formulas, const char* name, std::vector<Formed> (*constant_other)(const FormulaArguments&),
              std::vector<Formed> (*constant_self)(const FormulaArguments&)) {
  formulas.push_back({name, has_constant<Side::kRight>, constant_other});
  formulas.push_back({name, has_constant<Side::kLeft>, constant_self});
}

}  // namespace

Formulas integer_formulas() {
  Formulas formulas = {
      {"aten::relu", is_integer_self, relu_of_integers},
      {"aten::relu6", is_integer_self, relu6_of_integers},
  };
  for (const char* name : {"aten::bitwise_left_shift.Tensor", "aten::bitwise_left_shift.Tensor_Scalar",
                           "aten::__lshift__.Scalar", "aten::__lshift__.Tensor"}) {
    formulas.push_back({name, has_constant<Side::kRight>, shifted_left});
  }
  for (const char* name : {"aten::bitwise_right_shift.Tensor", "aten::bitwise_right_shift.Tensor_Scalar",
                           "aten::__rshift__.Scalar", "aten::__rshift__.Tensor"}) {
    formulas.push_back({name, has_constant<Side::kRight>, shifted_right});
  }
  for (const char* name : {"aten::bitwise_and.Tensor", "aten::bitwise_and.Scalar", "aten::bitwise_and.Scalar_Tensor",
                           "aten::__and__.Tensor", "aten::__and__.Scalar"}) {
    add_bits(formulas, name, bits_and<Side::kRight>, bits_and<Side::kLeft>);
  }
  for (const char* name : {"aten::bitwise_or.Tensor", "aten::bitwise_or.Scalar", "aten::bitwise_or.Scalar_Tensor",
                           "aten::__or__.Tensor", "aten::__or__.Scalar"}) {
    add_bits(formulas, name, bits_or<Side::kRight>, bits_or<Side::kLeft>);
  }
  for (const char* name : {"aten::bitwise_xor.Tensor", "aten::bitwise_xor.Scalar", "aten::bitwise_xor.Scalar_Tensor",
                           "aten::__xor__.Tensor", "aten::__xor__.Scalar"}) {
    add_bits(formulas, name, bits_xor<Side::kRight>, bits_xor<Side::kLeft>);
  }
  return formulas;
}

}  // namespace nnapi_convert
