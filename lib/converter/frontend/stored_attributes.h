// SPDX-License-Identifier: BSD-3-Clause
// Handles attributes that forward sets before it reads them.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// Replaces reads of an attribute by the value that forward stored in it before, where one node alone stores it. The
// graph's calls have to be inlined. A list that nothing else holds is stored where all of its changes are done.
void read_stored_attributes(torch::jit::Graph& graph);

}  // namespace nnapi_convert
