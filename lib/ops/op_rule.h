// SPDX-License-Identifier: BSD-3-Clause
// OpRule: how one PyTorch operation is typed and lowered, and its traits. A family's file gives a table of them;
// registry.cpp lists the families.
#pragma once

#include <vector>

#include "lib/ops/op_context.h"
#include "lib/ops/op_traits.h"

namespace nnapi_convert {

// Returns the types of the node's outputs. Refuses nodes that the rule can't type.
using ShapeRule = std::vector<ValueType> (*)(const OpArguments&);
// Appends NNAPI operations for the node and sets its outputs. Null for operators that compute sizes: the shape rule
// already tells their results.
using LowerRule = void (*)(OpContext&);

struct OpRule {
  const char* schema;  // the full ATen schema
  int feature_level;   // the lowest NNAPI feature level at which the rule gives a valid model
  const char* note;    // limits, for docs/generated/supported-ops.md; may be empty
  ShapeRule shape;
  LowerRule lower;
  OpTraits traits;  // equal in all rows of one operator
};

using OpRules = std::vector<OpRule>;

// Operators without rules that have the same traits. Those that aren't set are unknown.
struct CpuOperators {
  OpTraits traits;
  std::vector<const char*> names;  // without overloads
};

}  // namespace nnapi_convert
