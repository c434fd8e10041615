// SPDX-License-Identifier: BSD-3-Clause
// Writes as a text what decides how NNAPI lowers a node by itself: deep networks repeat their nodes.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <optional>
#include <string>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Returns the operator, the types of its tensors, its numbers and options, and which results are read: nodes of one
// form are lowered alike. Nothing for a node whose constant tensors decide, too, and for one with blocks.
std::optional<std::string> form_of(const torch::jit::Node& node, const TypeMap& types);

}  // namespace nnapi_convert
