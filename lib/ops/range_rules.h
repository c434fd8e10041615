// SPDX-License-Identifier: BSD-3-Clause
// Lists for each operator how the range of its integer results follows from the ranges of its arguments.
#pragma once

#include <map>
#include <string>

namespace nnapi_convert {

// The rule that computes the range of a result from the ranges of the arguments.
enum class RangeRule {
  kMove,   // each element is an element of one of the integer arguments
  kFirst,  // each element is an element of the first argument
  kIndex,  // indices along an axis
  kAdd,    // self + alpha * other
  kSubtract,
  kReverseSubtract,
  kMultiply,
  kQuotient,
  kRemainder,
  kNegate,
  kAbsolute,
  kSum,      // the sum of all elements of an axis or of the tensor
  kProduct,  // the product of all elements of an axis or of the tensor
  kPick,     // the first result has elements, the second their indices
  kBorder,   // the number of elements of a sorted axis below a value
  kCount,    // a number of elements
  kPool,     // the second result has indices into a whole image
  kMaximum,
  kMinimum,
  kClamp,
  kOneHot,
  kWithZeros,  // each element is an element of the first argument, or 0
  kPadded,     // each element is an element of the first argument, or argument "value"
  kSign,
};

// Returns the rules by the operator's name, "aten::cat".
const std::map<std::string, RangeRule>& range_rules();

}  // namespace nnapi_convert
