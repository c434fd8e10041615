// SPDX-License-Identifier: BSD-3-Clause
// Gives a node the place of another one in the model's sources, for messages.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// Copies the source line, and the lines of the calls that led there.
inline void take_place(torch::jit::Node& made, const torch::jit::Node& original) {
  made.setSourceRange(original.sourceRange());
  if (original.callstack()) made.setCallStack(*original.callstack());
}

}  // namespace nnapi_convert
