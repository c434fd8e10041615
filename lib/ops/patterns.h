// SPDX-License-Identifier: BSD-3-Clause
// Compositions of operators that NNAPI has one operation for, found by the last operator of each.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <vector>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

struct Pattern {
  const char* last;    // the composition's last operator, whichever overload it is
  const char* result;  // the operator that takes its place (recognised.cpp has rules of our own ones)
  // Inserts the operator that gives the same as the node, and returns its result; null for other compositions.
  torch::jit::Value* (*recognise)(torch::jit::Node* node, const TypeMap& types);
};

using Patterns = std::vector<Pattern>;
const Patterns& all_patterns();

// Inserts before the node what a pattern that ends with it becomes, and returns the result; null if there is none.
torch::jit::Value* recognise(torch::jit::Node* node, const TypeMap& types);

}  // namespace nnapi_convert
