// SPDX-License-Identifier: BSD-3-Clause
// Finds what programs can't say of an operator's call.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <string>

namespace nnapi_convert {

// Throws std::invalid_argument, with what was found, for an operator that programs lack, for an argument that theirs
// doesn't take, and for a dtype of tensors that they don't hold. `name` is the operator's with its overload.
void check_programs_have(const torch::jit::Node& node, const std::string& name);

}  // namespace nnapi_convert
