// SPDX-License-Identifier: BSD-3-Clause
// Lowers operators that only move elements to a GATHER. ATen runs the operator on a tensor of indices to make the
// GATHER's table (movement.cpp).
#pragma once

#include <vector>

#include "lib/ops/op_rule.h"

namespace nnapi_convert {

// Type and lower the operator. It takes float32 or integers of fixed sizes; all arguments other than the moved tensors
// have to be constants.
std::vector<ValueType> moved_type(const OpArguments& args);
void lower_moved(OpContext& ctx);

}  // namespace nnapi_convert
