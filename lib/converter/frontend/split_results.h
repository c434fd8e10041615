// SPDX-License-Identifier: BSD-3-Clause
// Splits results of forward (--split-output): each part becomes a result of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/converter/load/load.h"

namespace nnapi_convert {

struct ResultSplit {
  size_t result = 0;           // number of the tensor that forward returns
  int64_t axis = 0;            // in PyTorch's order
  std::vector<int64_t> sizes;  // sizes of the parts along the axis, in their order
};

// Changes forward of `loaded`: in place of each result that `splits` names it returns the result's parts. One that
// returned a tensor returns a tuple then. Throws ConvertError (kNotConvertible) where forward returns neither a tensor
// nor a plain tuple of tensors.
void split_results(LoadedModel& loaded, const std::vector<ResultSplit>& splits);

}  // namespace nnapi_convert
