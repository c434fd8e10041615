// SPDX-License-Identifier: BSD-3-Clause
// Checks and evaluates the expressions of a buffer, sizes that depend on the sizes of the arguments, and its
// conditions.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/shim/buffer_layout.h"
#include "lib/shim/nnapi_shim.h"

namespace nnapi_shim {

// Checks that each expression names only arguments and axes that exist, and earlier expressions.
bool check_expressions(const int32_t* words, const BufferLayout& layout, nnapi_shim_error* error);

// Computes the values of all expressions, for arguments whose ranks and sizes were checked. Returns
// NNAPI_SHIM_BAD_ARGUMENT if a value does not fit into 64 bits or a divisor is 0 or less.
int evaluate_expressions(const int32_t* words, const BufferLayout& layout, const nnapi_shim_shape* arguments,
                         std::vector<int64_t>* values, nnapi_shim_error* error);

// Checks that each condition names expressions that exist, and has two strings.
bool check_conditions(const int32_t* words, const BufferLayout& layout, nnapi_shim_error* error);

// Checks the conditions on sizes, given the values of all expressions. Returns NNAPI_SHIM_BAD_ARGUMENT for the first
// that does not hold.
int test_conditions(const int32_t* words, const BufferLayout& layout, const std::vector<int64_t>& values,
                    nnapi_shim_error* error);

// The shapes as text for error sentences, such as "[1, 3, 224, 224], [2]", cut to the size of `text`.
struct ShapesText {
  explicit ShapesText(const nnapi_shim_shape* arguments, uint32_t count);
  char text[192];
};

}  // namespace nnapi_shim
