// prim::If as IF and prim::Loop as WHILE: each block becomes a subgraph, which is given what it reads of the blocks
// around it.
#pragma once

#include "lib/converter/lower/lower_block.h"

namespace nnapi_convert {

// A LowerFlow.
void lower_control_flow(const LoweringScope& scope, BlockLowering& outer, const TorchNode& node);

}  // namespace nnapi_convert
