// The arguments of an operation that name axes, found by their roles in the operations table, and their rewriting from
// NCHW to NHWC.
#pragma once

#include <vector>

#include "lib/nnapi/builder.h"
#include "lib/nnapi/signature.h"

namespace nnapi_convert::nnapi {

// Operations on the axes that their arguments name; the order of axes is otherwise nothing to them.
bool is_along_axes(OperationCode code);

class AxisArguments {
 public:
  AxisArguments(const SignatureInfo& signature, const Operation& operation);

  // Input number of the layout flag, or -1; and whether the argument list may end before it.
  int layout_flag() const { return layout_flag_; }
  bool layout_flag_is_optional() const { return layout_flag_is_optional_; }
  // True if the operation works along axes that its other arguments name, and can do so in any order of axes.
  bool has_axes() const { return !rewritable_.empty(); }
  // True if all arguments that name axes are constants.
  bool are_constant(const Model& model, const Operation& operation) const;
  // The axes (in NCHW) that kAxis and kAxes arguments name.
  std::vector<int64_t> named_axes(const Model& model, const Operation& operation) const;
  // Replaces the arguments of an operation on rank 4 by those for NHWC, shapes of outputs included.
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
