// Nested tensors, whose rows have lengths of their own, as padded tensors: nn.TransformerEncoder makes them of a padded
// tensor and a mask. aten::_nested_tensor_from_mask joins the two, and its readers take them apart again, so that no
// nested tensor is left.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <vector>

#include "lib/base/diagnostics.h"

namespace nnapi_convert {

// True for a nested tensor that is made of a padded one and a mask.
bool is_nested(const torch::jit::Value& value);

// Returns what takes the place of the outputs of a node that reads nested tensors, or asks whether one may be made:
// values of nodes inserted before it. Empty for other nodes, and for those that compute with nested tensors in another
// way than row by row.
std::vector<torch::jit::Value*> padded_form(torch::jit::Node& node);

// Replaces all such nodes of the graph, and warns of padded results that are longer than the original's.
void pad_nested_tensors(torch::jit::Graph& graph, Diagnostics& diagnostics);

}  // namespace nnapi_convert
