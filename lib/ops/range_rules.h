// How the range of an operator's integers follows from those of its arguments, operator by operator.
#pragma once

#include <map>
#include <string>

namespace nnapi_convert {

// How the range of a result follows from those of the arguments.
enum class RangeRule {
  kMove,   // each element is one of the integer arguments'
  kFirst,  // each element is one of the first argument's
  kIndex,  // places along an axis
  kAdd,    // self + alpha * other
  kSubtract,
  kReverseSubtract,
  kMultiply,
  kQuotient,
  kRemainder,
  kNegate,
  kAbsolute,
  kSum,     // of as many elements as an axis, or the tensor, has
  kPick,    // the first result is an element, the second its place
  kBorder,  // how many numbers of a sorted axis are below
  kCount,   // of elements
  kPool,    // the second result is a place in the whole picture
  kMaximum,
  kMinimum,
  kClamp,
  kOneHot,
};

// By the operator's name, "aten::cat".
const std::map<std::string, RangeRule>& range_rules();

}  // namespace nnapi_convert
