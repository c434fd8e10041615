// What the calls of a segment for some rows at a time read and give, of values for all rows.
#pragma once

#include <optional>
#include <vector>

#include "lib/converter/samples/reference_values.h"
#include "lib/nnapi/model.h"

namespace nnapi_convert {

struct CallValues {
  ReferenceValues values;         // those that can be told apart by rows, or don't depend on them
  std::vector<at::Tensor> given;  // to the segment's module
};

// One for each call, as the module makes them: the last is filled up with the last row; none where there are no rows.
// Nothing where it can't be told along which axis of what is given the rows are.
std::optional<std::vector<CallValues>> in_calls(const nnapi::Model& model, const std::vector<at::Tensor>& given,
                                                const ReferenceValues& values, int64_t rows_per_call);

}  // namespace nnapi_convert
