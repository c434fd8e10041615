// The TorchScript method that calls a segment for rows whose number is known only as the model runs: the segment takes
// some at a time, and the last call's missing rows repeat one that is there. Without rows it isn't called.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/types/tensor_type.h"

namespace nnapi_convert {

// What the segment takes or gives in one call.
struct RowCallTensor {
  std::string name;
  TensorType type;
  std::optional<size_t> axis;  // of the rows; nothing: the same in each call
};

struct RowCalls {
  size_t segment = 0;
  int64_t rows = 1;                            // of one call
  std::vector<RowCallTensor> inputs, outputs;  // some input and all outputs have rows
};

// "rows_0".
std::string row_calls_method(size_t segment);
// The method, of the class `self` with the attribute segment_<n>. It raises where inputs don't have as many rows.
std::string row_calls_source(const RowCalls& calls, const std::string& self);

}  // namespace nnapi_convert
