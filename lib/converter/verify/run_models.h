// SPDX-License-Identifier: BSD-3-Clause
// Runs modules for a comparison, and checks that results are of one form.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <optional>
#include <string>

#include "lib/converter/frontend/arguments.h"
#include "lib/converter/verify/verify_inputs.h"

namespace nnapi_convert {

// Throws ConvertError (kVerificationFailed) with the message.
[[noreturn]] void fail_verification(const std::string& message);

// Runs the module on copies of the inputs, as it may change them. Throws ConvertError (kVerificationFailed), whose
// message names the module as `which` and ends in `hint`.
Tensors run_module(torch::jit::Module& module, const InputTuple& inputs, const char* which,
                   const std::string& hint = "");

// Runs a model that isn't converted. PyTorch's optimiser fails on some models in their second run; without it, autocast
// in scripts does nothing.
Tensors run_unconverted(torch::jit::Module& module, const InputTuple& inputs, const char* which,
                        const std::string& hint = "");

// Runs the module; returns nothing if this machine can't run it, for example for want of float16 kernels.
std::optional<Tensors> run_if_possible(torch::jit::Module& module, const InputTuple& inputs);

// Throw ConvertError (kVerificationFailed) for results of another number, of other shapes, or of other dtypes.
// Quantised tensors may be float32 on one side.
void check_same_outputs(const Tensors& original, const Tensors& converted);
void check_same_dtypes(const Tensors& original, const Tensors& converted);

// True where all floats are finite.
bool are_finite(const Tensors& results);

}  // namespace nnapi_convert
