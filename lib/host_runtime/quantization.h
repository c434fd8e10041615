// Between codes and numbers, and arithmetic of quantised operations that several families share.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <vector>

#include "lib/host_runtime/operand.h"

namespace nnapi_convert::host {

// The numbers that an operand's codes stand for: Float from float types, Double from integer and quantised ones.
at::Tensor to_numbers(const at::Tensor& codes, const Operand& operand);
// The nearest codes of the operand's type, halves away from zero, saturated; what is no number becomes the highest
// code.
at::Tensor to_codes(const at::Tensor& numbers, const Operand& operand);
// The same for operations whose reference adds the zero point before it rounds: halves go away from the code 0.
at::Tensor to_shifted_codes(const at::Tensor& numbers, const Operand& operand);
double to_number(int64_t code, const Operand& operand);
int64_t to_code(double number, const Operand& operand);

// Applies a function of numbers to each code of a tensor of an 8-bit quantised type, by a table of 256 entries.
at::Tensor map_codes(const at::Tensor& codes, const Operand& input, const Operand& output,
                     const std::function<double(double)>& function);

// Clamps in place: the tensor has to be the kernel's own.
at::Tensor activate(at::Tensor numbers, FuseCode activation);

// Numbers of the kernel's own as codes within the activation's range, whose bounds are codes too.
at::Tensor to_activated_codes(const at::Tensor& numbers, const Operand& operand, FuseCode activation);

// Accumulators of channel c at [outer, c, inner] become codes: round(accumulator * multipliers[c]) + zero point, halves
// away from zero, clamped to the activation's range. `sums` is Float, Double or Int with exact integers, contiguous in
// the order that the caller's memory has; `channels` is their period and `inner` their spacing.
at::Tensor requantize(const at::Tensor& sums, const at::Tensor& bias, const std::vector<double>& multipliers,
                      int64_t inner, const Operand& output, FuseCode activation);

// Codes (as numbers, in Float or Double) to the nearest whole ones, clamped to the activation's range.
at::Tensor round_codes(const at::Tensor& codes, const Operand& output, FuseCode activation);

bool same_quantization(const Operand& a, const Operand& b);

}  // namespace nnapi_convert::host
