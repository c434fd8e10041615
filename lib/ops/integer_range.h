// What is known, before the model runs, of the numbers that integer tensors hold: float32 holds integers exactly up to
// 2^24 only, and NNAPI's int32 less than PyTorch's int64.
#pragma once

#include <optional>

#include "lib/ops/op_arguments.h"

namespace nnapi_convert {

constexpr double kExactInFloat32 = 1 << 24;
constexpr double kLongestAxis = 1 << 22;  // of a size that isn't known yet

// Bounds of integers, both inclusive.
struct IntegerRange {
  double least = 0, greatest = 0;
  bool are_floats = false;  // each is one that float32 holds, however large: a float32 was rounded to it

  bool is_exact_in_float32() const { return are_floats || (least >= -kExactInFloat32 && greatest <= kExactInFloat32); }
  bool is_int32() const { return least >= INT32_MIN && greatest <= INT32_MAX; }
  IntegerRange joined(const IntegerRange& other) const;
};

IntegerRange operator+(const IntegerRange& a, const IntegerRange& b);
IntegerRange operator-(const IntegerRange& a);
IntegerRange operator*(const IntegerRange& a, const IntegerRange& b);
// What rounding float32 gives.
IntegerRange rounded_floats();
// The quotient rounded in either way; the divisor is no 0.
IntegerRange quotient(const IntegerRange& a, const IntegerRange& b);

// Of the greater and the lesser one of two numbers.
IntegerRange greater_of(const IntegerRange& a, const IntegerRange& b);
IntegerRange lesser_of(const IntegerRange& a, const IntegerRange& b);

// The range of what a value of the graph holds: by how it is made, or by what reads it, where all readers take it as an
// index, which PyTorch refuses outside of what it counts. Nothing where that says nothing, or for float tensors. An
// axis of a size that isn't known yet is taken to have at most 2^22 elements.
std::optional<IntegerRange> integer_range(const TorchValue& value, const TypeMap& types);

// The sizes that the value counts places of as argument `offset` of the node; nothing where it is no index there.
std::optional<IntegerRange> index_range(const TorchNode& reader, size_t offset, const TypeMap& types);

// The same for an element of a list that is the argument.
std::optional<IntegerRange> index_range_in_list(const TorchNode& reader, size_t offset, size_t element,
                                                const TypeMap& types);

// Keeps the range of an input of a graph that is a part of another, where what makes the value isn't seen.
void note_range(torch::jit::Value& input, const IntegerRange& range);

}  // namespace nnapi_convert
