// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic that changes no value but may change the dtype: mask * 1 is int64.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Writes x * 1, x / 1, x + 0 and x - 0 as x + 2 * 0, in the methods of the module and of those in it, and in the
// functions that they call. LibTorch's passes, and its executor as it runs a script, drop such arithmetic whatever
// dtype x has, but leave x + 2 * 0. Eager PyTorch and the lite interpreter leave both.
void keep_neutral_arithmetic(const torch::jit::Module& module);

// Returns what x + 0 gives where the dtype of x is known: x, or a cast that is inserted before the node. Returns
// nullptr for other nodes.
torch::jit::Value* neutral_result(torch::jit::Node* node, const TypeMap& types);

}  // namespace nnapi_convert
