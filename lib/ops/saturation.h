// SPDX-License-Identifier: BSD-3-Clause
// What becomes of infinite numbers on Android: NNAPI's arithmetic gives the largest float32 in place of an infinite
// number, as its reference clamps each result, even without an activation. Operations that move, choose or compare
// numbers keep infinite ones.
#pragma once

#include "lib/ops/expression.h"

namespace nnapi_convert {

// True if arithmetic makes the value, so that an infinite number in it is the largest float32. False for inputs and
// constants, and what is moved or chosen of them; and for sums and products of integers, bools and finite numbers
// alone, such as a mask times the lowest float32: they are taken not to overflow.
bool may_be_saturated(const TorchValue& value, const TypeMap& types);

// Returns the least size of a number in the argument that stands for an infinite one.
double least_infinite(const OpArguments& args, const std::string& name);

}  // namespace nnapi_convert
