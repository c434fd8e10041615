// SPDX-License-Identifier: BSD-3-Clause
// Replaces nodes that only take lists apart, join lists or narrow a type, once the types of their inputs are known.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <vector>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Returns the value of each output of the node: the elements of an unchanged list that a ListConstruct makes, a new
// list with the elements of one list, of two or of a part of one, or the input of a cast to the type that the input
// has. Returns nothing for other nodes, and if the elements are unknown. May insert nodes before the node.
std::vector<torch::jit::Value*> known_elements(torch::jit::Node& node, const TypeMap& types);

}  // namespace nnapi_convert
