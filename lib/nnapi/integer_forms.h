// SPDX-License-Identifier: BSD-3-Clause
// Tells which of NNAPI's operations compute with 8-bit integers, and how the scales of their operands must be related.
#pragma once

#include <optional>
#include <vector>

#include "lib/format/operation_table.h"
#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Returns the operation's name and source line, for messages.
std::string text_of(const Operation& operation);

// Real value = scale * (stored - zero_point).
struct Scale {
  float scale = 0;
  int32_t zero_point = 0;

  friend bool operator==(const Scale& a, const Scale& b) { return a.scale == b.scale && a.zero_point == b.zero_point; }
  friend bool operator!=(const Scale& a, const Scale& b) { return !(a == b); }
};

using nnapi_convert::IntegerForm;

// Returns the integer form of an operation with float tensors.
inline IntegerForm form_of(OperationCode code) {
  return find_operation(code)->integers;
}
// True for operations that only move values: each result is one of the inputs' values.
inline bool only_moves(OperationCode code) {
  return has_trait(code, OperationTrait::kMovesValues);
}
// True for an operation that moves the values of a variable, not those of a constant table.
bool moves_variable(const Model& model, const Operation& operation);
std::optional<Scale> fixed_scale(OperationCode code);

struct IntegerRules {
  int feature_level = 3;
  bool per_channel = false;        // filters may have a scale for each channel
  bool symmetric_weights = false;  // filters with one scale: -127 to 127 quanta around zero point 128

  // `takes_channel_scales` tells whether the runtime can hand filters with channel scales to NNAPI; NNAPI has them from
  // level 3.
  static IntegerRules of(int feature_level, bool takes_channel_scales, bool symmetric_weights = false) {
    return {feature_level, takes_channel_scales && feature_level >= 3, symmetric_weights};
  }

  // Return whether the operation's tensors need one scale, and whether the output's scale must be larger than the
  // product of the inputs' scales. Drivers before level 3 demand this of more operations.
  bool ties(const Operation& operation) const;
  bool needs_larger_output(const Operation& operation) const;
  // True if float and integer operations may mix: QUANTIZE, which turns floats into integers, needs level 3.
  bool may_mix_floats() const { return feature_level >= 3; }
};

// Returns the axis of a convolution filter's output channels; nothing for other operations: FULLY_CONNECTED's filter
// has one scale.
std::optional<size_t> channel_axis(OperationCode code);

// True if the operation has a form with 8-bit tensors at the feature level, and its weights are constants.
bool has_integer_form(const Model& model, const Operation& operation, const IntegerRules& rules);

// Returns the model with the types that it has when all operations that have an integer form use it. It answers
// questions about types only: constants keep their floats, and scales are 1. Operations and operands keep their
// numbers; subgraphs stay float.
Model typed_as_integers(const Model& model, const IntegerRules& rules);

// True for tensors of float32 that are neither constants nor omitted.
bool is_float_variable(const Operand& operand);
// Returns the float32 variables that an operation reads, then those that it writes.
std::vector<OperandId> float_variables(const Model& model, const Operation& operation);

}  // namespace nnapi_convert::nnapi
