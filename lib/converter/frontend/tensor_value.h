// SPDX-License-Identifier: BSD-3-Clause
// Reads values of a tensor as --input gives them: nested lists of numbers, as torch.tensor takes them.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace nnapi_convert {

// True for text that begins a list: "[36]", "[[1,0],[0,1]]:float32".
bool is_tensor_value(const std::string& text);

// Reads nested lists of numbers or of true and false, with a dtype behind a colon. Without one the dtype is int64 for
// whole numbers, float32 if one of them is written with a point or an exponent, and bool: torch.tensor's rule. Throws
// std::invalid_argument with the reason for text that is none, for lists of unequal length, for no number at all, for
// more than 4,096 numbers and for numbers that the dtype doesn't hold.
at::Tensor tensor_value(const std::string& text);

}  // namespace nnapi_convert
