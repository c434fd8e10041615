// SPDX-License-Identifier: BSD-3-Clause
// A function that LibTorch exports, and whose header Debian's package doesn't have
// (torch/csrc/jit/operator_upgraders/upgraders_entry.h).
#pragma once

namespace torch::jit {

// Makes known the formulas that give the code of older files today's operators. Call it before such code is compiled;
// later calls do nothing.
void populate_upgraders_graph_map();

}  // namespace torch::jit
