// SPDX-License-Identifier: BSD-3-Clause
// Refuses arguments that end LibTorch's process, or keep it busy for hours, when one of its passes evaluates the call.
#pragma once

#include <torch/csrc/jit/api/module.h>

namespace nnapi_convert {

// Throws ConvertError (kNotConvertible) for a call of the module's functions with a constant dtype that PyTorch has
// not, or with constant sizes of more elements than any tensor of NNAPI's has.
void check_constant_arguments(const torch::jit::Module& module);

}  // namespace nnapi_convert
