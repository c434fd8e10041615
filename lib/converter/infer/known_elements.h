// What nodes give that only take lists apart, join them or narrow a type, once what they read is known.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <vector>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// What the outputs of the node are, each: elements of a list that a ListConstruct makes and nothing changes, a new list
// of the elements of two, or the input of a cast to the type that it has. Nothing if the node is another, or it isn't
// known. May insert nodes before it.
std::vector<torch::jit::Value*> known_elements(torch::jit::Node& node, const TypeMap& types);

}  // namespace nnapi_convert
