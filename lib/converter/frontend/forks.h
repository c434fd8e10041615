// SPDX-License-Identifier: BSD-3-Clause
// Runs what torch.jit.fork() runs beside the model in the model's own order.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// Replaces each fork by the function that it runs, as that is one of the moments at which it may run, and each wait by
// what it waits for. The functions' calls are not inlined. Returns false if there is no fork, or if the graph hands a
// Future to its caller or to an attribute: then all forks stay.
bool run_forks_in_place(torch::jit::Graph& graph);

}  // namespace nnapi_convert
