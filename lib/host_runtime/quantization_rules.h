// What rules and kernels of several families check and read of an operation's quantisation and activation.
#pragma once

#include "lib/host_runtime/kernel.h"

namespace nnapi_convert::host {

// The value of the argument `activation`; a rule calls it to check it.
FuseCode activation_of(const OpContext& context);
// An argument's codes, in the output's quantisation if it has one; other types stay as they are stored.
at::Tensor requantized(const OpContext& context, const char* name, const Operand& output);

void require_same_quantization(const OpContext& context, const char* a, const char* b);
void require_quantization(const OpContext& context, const char* name, float scale, int32_t zero_point);
// Padding of codes stands for the number 0 from feature level 3 on; before, for the code 0.
void require_paddable(const OpContext& context);

}  // namespace nnapi_convert::host
