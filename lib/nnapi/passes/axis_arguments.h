// SPDX-License-Identifier: BSD-3-Clause
// Finds the arguments of an operation that name axes, by their roles in the operations table, and rewrites them from
// NCHW to NHWC.
#pragma once

#include <vector>

#include "lib/format/operation_table.h"
#include "lib/nnapi/builder.h"
#include "lib/nnapi/signature.h"

namespace nnapi_convert::nnapi {

// Returns whether the operation works on the axes that its arguments name, in any order of axes.
inline bool is_along_axes(OperationCode code) {
  return has_trait(code, OperationTrait::kAlongAxes);
}

class AxisArguments {
 public:
  AxisArguments(const SignatureInfo& signature, const Operation& operation);

  // Returns the input number of the layout flag, or -1. layout_flag_is_optional: the argument list may end before it.
  int layout_flag() const { return layout_flag_; }
  bool layout_flag_is_optional() const { return layout_flag_is_optional_; }
  // Returns true if the operation has arguments that name axes and works in any order of axes.
  bool has_axes() const { return !rewritable_.empty(); }
  // Returns true if all arguments that name axes are constants.
  bool are_constant(const Model& model, const Operation& operation) const;
  // Returns the axes (in NCHW) that kAxis and kAxes arguments name.
  std::vector<int64_t> named_axes(const Model& model, const Operation& operation) const;
  // Replaces the arguments of an operation on rank 4 by the arguments for NHWC, including shapes of outputs.
  void rewrite_for_nhwc(Builder& builder, Operation& operation) const;

 private:
  struct Position {
    size_t index;
    ArgumentRole role;
  };
  int layout_flag_ = -1;
  bool layout_flag_is_optional_ = false;
  std::vector<Position> rewritable_;
};

}  // namespace nnapi_convert::nnapi
