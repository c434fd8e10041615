// SPDX-License-Identifier: BSD-3-Clause
// Replaces tables of embeddings whose rows are rounded to 8, 4 or 2 bits, with a scale for each row. NNAPI has none:
// they become float tables of the same values.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include "lib/base/diagnostics.h"

namespace nnapi_convert {

// Replaces quantized::embedding_byte, quantized::embedding_bag_4bit and their like by aten::embedding and
// aten::embedding_bag. A node whose table is computed stays. The graph's attributes have to be constants.
void remove_quantised_tables(torch::jit::Graph& graph);

// True if a method or function that the module was saved with reads such a table.
bool has_quantised_tables(const torch::jit::Module& module);

// Says in one warning what such tables are converted to.
void warn_of_quantised_tables(Diagnostics& diagnostics);

}  // namespace nnapi_convert
