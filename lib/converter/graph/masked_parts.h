// SPDX-License-Identifier: BSD-3-Clause
// Joins computation on the elements of a tensor that a mask chooses: y[mask] = f(y[mask]).
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <functional>

#include "lib/ops/op_arguments.h"

namespace nnapi_convert {

// Handles `read`, which reads elements by a mask: how many depends on values. If only elementwise operators use them,
// and all results are written to elements of the same mask: computes the operators on all elements, takes the results
// where the mask is true, calls `replace` for each result of a write, and destroys the nodes between. Returns whether
// it did; nothing may read `read` any more then.
bool join_masked_parts(TorchNode& read, const TypeMap& types,
                       const std::function<void(TorchValue* from, TorchValue* to)>& replace);

}  // namespace nnapi_convert
