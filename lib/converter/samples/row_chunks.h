// SPDX-License-Identifier: BSD-3-Clause
// Cuts values for all rows into the values of each call of a segment that takes some rows at a time.
#pragma once

#include <optional>
#include <vector>

#include "lib/converter/samples/reference_values.h"
#include "lib/nnapi/model.h"

namespace nnapi_convert {

struct CallValues {
  ReferenceValues values;         // the rows of this call; values without rows are complete
  std::vector<at::Tensor> given;  // the inputs of the segment's module
};

// Returns the values of each call, cut as the module cuts them: the last call is filled up by repeating the last row;
// empty if there are no rows. Returns nothing if the axis of the rows in an input is unclear.
std::optional<std::vector<CallValues>> in_calls(const nnapi::Model& model, const std::vector<at::Tensor>& given,
                                                const ReferenceValues& values, int64_t rows_per_call);

}  // namespace nnapi_convert
