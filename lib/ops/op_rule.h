// OpRule: how one PyTorch operation is typed and lowered. A family's file gives a table of them; registry.cpp lists the
// families.
#pragma once

#include <vector>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// The types of the node's outputs. Refuses what can't be typed.
using ShapeRule = std::vector<ValueType> (*)(const OpArguments&);
// Appends NNAPI operations for the node and sets its outputs. Null for nodes that compute sizes: their result is known
// after the shape rule.
using LowerRule = void (*)(OpContext&);

struct OpRule {
  const char* schema;  // the full ATen schema
  int feature_level;   // the lowest NNAPI feature level at which the rule gives a valid model
  const char* note;    // limits, for docs/generated/supported-ops.md; may be empty
  ShapeRule shape;
  LowerRule lower;
};

using OpRules = std::vector<OpRule>;

}  // namespace nnapi_convert
