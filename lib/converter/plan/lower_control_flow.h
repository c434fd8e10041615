// SPDX-License-Identifier: BSD-3-Clause
// Lowers prim::If to IF and prim::Loop to WHILE. Each block becomes a subgraph; values of outer blocks that the block
// reads become inputs of the subgraph.
#pragma once

#include "lib/converter/plan/lower_block.h"

namespace nnapi_convert {

// The function for LoweringScope::lower_flow.
void lower_control_flow(const LoweringScope& scope, BlockLowering& outer, const TorchNode& node);

}  // namespace nnapi_convert
