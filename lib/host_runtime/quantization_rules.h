// SPDX-License-Identifier: BSD-3-Clause
// Checks and reads an operation's quantisation and activation, for rules and kernels of several families.
#pragma once

#include "lib/host_runtime/kernel.h"

namespace nnapi_convert::host {

// Checks and returns the value of the argument `activation`.
FuseCode activation_of(const OpContext& context);
// Returns an argument's codes, converted to the output's quantisation if the type is quantised; others as stored.
at::Tensor requantized(const OpContext& context, const char* name, const Operand& output);

void require_same_quantization(const OpContext& context, const char* a, const char* b);
void require_quantization(const OpContext& context, const char* name, float scale, int32_t zero_point);
// Refuses quantised padding below feature level 3 unless the zero point is 0: there, padding is the code 0; from level
// 3 on it stands for the number 0.
void require_paddable(const OpContext& context);

}  // namespace nnapi_convert::host
