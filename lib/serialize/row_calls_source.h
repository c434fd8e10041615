// SPDX-License-Identifier: BSD-3-Clause
// Writes the TorchScript method that calls a segment (a part of the model that NNAPI runs) for rows whose number is
// known only at run time. Each call takes a fixed number of rows; the last call repeats a row to fill up. Without rows,
// the method does not call the segment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/types/tensor_type.h"

namespace nnapi_convert {

// An input or output of the segment in one call.
struct RowCallTensor {
  std::string name;
  TensorType type;
  std::optional<size_t> axis;  // the axis of the rows; nothing: the tensor is the same in each call
};

struct RowCalls {
  size_t segment = 0;
  int64_t rows = 1;                            // rows in one call
  std::vector<RowCallTensor> inputs, outputs;  // at least one input and all outputs have rows
};

// Returns the method's name, such as "rows_0".
std::string row_calls_method(size_t segment);
// Returns the method of the class `self`, which has the attribute segment_<n>. The method raises an error if its inputs
// differ in the number of rows.
std::string row_calls_source(const RowCalls& calls, const std::string& self);

}  // namespace nnapi_convert
