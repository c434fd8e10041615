// SPDX-License-Identifier: BSD-3-Clause
// Finds compositions of operators for which NNAPI has one operation, by the last operator of each.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <vector>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

struct Pattern {
  const char* last;    // the composition's last operator, whichever overload it is
  const char* result;  // the operator that takes its place (recognised.cpp has rules of the converter's own)
  // Inserts the operator that gives the same as the node, and returns its result; null for other compositions.
  torch::jit::Value* (*recognise)(torch::jit::Node* node, const TypeMap& types);
};

using Patterns = std::vector<Pattern>;
const Patterns& all_patterns();

// Inserts the operator of a pattern that ends with the node before the node, and returns its result; null if no pattern
// fits.
torch::jit::Value* recognise(torch::jit::Node* node, const TypeMap& types);

}  // namespace nnapi_convert
