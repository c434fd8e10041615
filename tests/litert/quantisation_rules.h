// SPDX-License-Identifier: BSD-3-Clause
// Checks a LiteRT file against LiteRT's 8-bit quantisation specification: the types, ranges, scales and zero points
// that its kernels take for granted, and don't check themselves.
//
// The specification is of int8 (ai.google.dev/edge/litert, "8-bit quantization specification", and
// tensorflow/lite/g3doc/performance/quantization_spec.md). Operators that it doesn't name keep what their kernels in
// tensorflow/lite/kernels ask for, and so does uint8. An operator with 8 bit tensors and no rule here is a problem.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nnapi_convert::litert::testing {

// Returns a line for each tensor that breaks a rule; none for a file without 8 bit tensors.
std::vector<std::string> quantisation_problems(std::string_view file);

}  // namespace nnapi_convert::litert::testing
