// SPDX-License-Identifier: BSD-3-Clause
// Converts between codes (quantised values) and numbers, and has the arithmetic that families of quantised operations
// share.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <vector>

#include "lib/host_runtime/operand.h"

namespace nnapi_convert::host {

// Returns the numbers that an operand's codes stand for: Float for float types, Double for integer and quantised types.
at::Tensor to_numbers(const at::Tensor& codes, const Operand& operand);
// Returns the nearest codes of the operand's type, saturated; halves round away from zero. NaN becomes the highest
// code.
at::Tensor to_codes(const at::Tensor& numbers, const Operand& operand);
// Returns the nearest codes for operations whose reference adds the zero point before it rounds: halves round away from
// the code 0.
at::Tensor to_shifted_codes(const at::Tensor& numbers, const Operand& operand);
double to_number(int64_t code, const Operand& operand);
int64_t to_code(double number, const Operand& operand);

// Applies a function of numbers to each code of a tensor of an 8-bit quantised type, by a table of 256 entries.
at::Tensor map_codes(const at::Tensor& codes, const Operand& input, const Operand& output,
                     const std::function<double(double)>& function);

// Clamps in place: no one else may use the tensor. As in Android's reference, an infinite number becomes the largest
// float32 of its sign, also without an activation, and NaN stays.
at::Tensor activate(at::Tensor numbers, FuseCode activation);
// The activation of recurrent operations, which leave infinite numbers as they are.
at::Tensor activate_state(at::Tensor numbers, FuseCode activation);

// Returns the codes of numbers, clamped to the activation's range; the bounds of the range are rounded to codes, too.
at::Tensor to_activated_codes(const at::Tensor& numbers, const Operand& operand, FuseCode activation);

// Turns the sums of channel c at [outer, c, inner] into codes: round(sum * multipliers[c]) + zero point, halves rounded
// away from zero, clamped to the activation's range. `sums` is Float, Double or Int with exact integers, contiguous in
// the order of the caller's memory; `inner` is the distance between the sums of neighbouring channels. With
// NNAPI_HOST_ROUNDING=twice it rounds as Android's own CPU: by a product in fixed point, then to codes.
at::Tensor requantize(const at::Tensor& sums, const at::Tensor& bias, const std::vector<double>& multipliers,
                      int64_t inner, const Operand& output, FuseCode activation);

// Rounds codes, given as Float or Double, to the nearest integers, and clamps them to the activation's range.
at::Tensor round_codes(const at::Tensor& codes, const Operand& output, FuseCode activation);

bool same_quantization(const Operand& a, const Operand& b);

}  // namespace nnapi_convert::host
