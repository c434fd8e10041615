// SPDX-License-Identifier: BSD-3-Clause
// Makes the integer form of a model by an assignment of scales.
#pragma once

#include "lib/nnapi/model.h"
#include "lib/quantise/assign.h"

namespace nnapi_convert::quantise {

// Values that are added to the biases of an operation's output channels before they are rounded; empty: none.
using BiasChanges = std::vector<std::vector<float>>;  // by operation

struct RewriteRequest {
  const Assignment& assignment;
  nnapi::IntegerRules rules;
  bool integer_inputs = false;   // inputs of integer operations are integers, as QUANTIZE would make them
  bool integer_outputs = false;  // outputs that integer operations make are integers
  const BiasChanges* bias_changes = nullptr;
  WeightCache* cache = nullptr;
};

struct Rewritten {
  nnapi::Model model;
  std::vector<nnapi::OperandId> integer_operands;  // by operand of the float model: its integer form, or -1
};

// Returns the integer form of `model`. Operands keep their numbers, and new ones follow.
Rewritten rewrite(const nnapi::Model& model, const RewriteRequest& request);

}  // namespace nnapi_convert::quantise
