// SPDX-License-Identifier: BSD-3-Clause
// Shows the program of a file (lib/format/program_format.h) as text: what the shim runs without PyTorch.
#pragma once

#include <string>

#include "lib/program/program.h"

namespace nnapi_convert {

// A line for each instruction: what it writes, what it does, and its place in the model's source. Registers are r0, r1;
// blocks stand indented.
//
//   forward(x: Tensor) -> Tensor
//     r1 = segment 0(r0)
//     r2 = aten::softmax.int(r1, 1, None)  # model.py:12
std::string to_text(const nnapi_shim::program::Program& program);

}  // namespace nnapi_convert
