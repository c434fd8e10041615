// SPDX-License-Identifier: BSD-3-Clause
// Turns nested tensors, whose rows have lengths of their own, into padded tensors: nn.TransformerEncoder makes them of
// a padded tensor and a mask. aten::_nested_tensor_from_mask joins the two, and its readers take them apart again, so
// that no nested tensor is left.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <vector>

#include "lib/converter/graph/normalised_model.h"

namespace nnapi_convert {

// True for a nested tensor that is made of a padded one and a mask.
bool is_nested(const torch::jit::Value& value);

// Returns the values that replace the outputs of a node of the model that reads nested tensors, or asks whether one may
// be made: values of nodes inserted before it. Empty for other nodes, and for those that compute with nested tensors in
// another way than row by row. Adds a warning to the model of a padded result that is longer than the original's.
std::vector<torch::jit::Value*> padded_form(torch::jit::Node& node, NormalisedModel& model);

// Replaces all nodes of the model's graph that have a padded form.
void pad_nested_tensors(NormalisedModel& model);

}  // namespace nnapi_convert
