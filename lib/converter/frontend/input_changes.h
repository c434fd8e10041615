// SPDX-License-Identifier: BSD-3-Clause
// Warns of a forward that changes its caller's tensors in place.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <string>

#include "lib/base/diagnostics.h"
#include "lib/ops/op_arguments.h"

namespace nnapi_convert {

// Returns the warning for `node`, which changes an input of the graph in place; the converted model won't.
inline Warning input_change_warning(const torch::jit::Node& node) {
  const std::string op = node.kind().toQualString();
  return {op + " changes the caller's input in place; the converted model leaves it as it is", source_of(node), op, "",
          0};
}

}  // namespace nnapi_convert
