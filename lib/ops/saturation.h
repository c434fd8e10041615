// SPDX-License-Identifier: BSD-3-Clause
// Finds values in which Android changes infinite numbers: NNAPI's arithmetic gives the largest float32 in place of an
// infinite number, as its reference clamps each result, even without an activation. Operations that move, choose or
// compare numbers keep infinite ones.
#pragma once

#include "lib/ops/expression.h"

namespace nnapi_convert {

// True if arithmetic makes the value, so that an infinite number in it is the largest float32. False for inputs and
// constants, and for values that are moved or chosen from them. Also false for sums and products of only integers,
// bools and finite numbers, such as a mask times the lowest float32, which are assumed not to overflow.
bool may_be_saturated(const TorchValue& value, const TypeMap& types);

// Returns the least size of a number in the argument that stands for an infinite one.
double least_infinite(const OpArguments& args, const std::string& name);

}  // namespace nnapi_convert
