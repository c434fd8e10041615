// Operators that only move elements: lowered to a GATHER by a table that ATen makes of the places (movement.cpp).
#pragma once

#include <vector>

#include "lib/ops/op_rule.h"

namespace nnapi_convert {

// Of float32 or integers of fixed sizes; all arguments but those that hold the elements are constants.
std::vector<ValueType> moved_type(const OpArguments& args);
void lower_moved(OpContext& ctx);

}  // namespace nnapi_convert
