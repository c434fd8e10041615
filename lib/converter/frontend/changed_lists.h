// SPDX-License-Identifier: BSD-3-Clause
// Handles lists that are read before they change.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// Parts a list under construction in two where its first change comes after reads, as in `x = [a]; cat(x);
// x.append(b)`: the reads before keep the list, and the change and all uses behind it get a list of its own with the
// same elements. Returns false for a list whose first use changes it, that does not change in its own block, or that
// something else may hold when it changes.
bool part_before_change(torch::jit::Node* list);

}  // namespace nnapi_convert
