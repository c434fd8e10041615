// SPDX-License-Identifier: BSD-3-Clause
// Finds a MEAN along the last axis with a number that is added to it, as in the variance of a norm.
#pragma once

#include <optional>

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

struct ShiftedMean {
  size_t mean;  // the operation
  float added;
};

// `sum` is the operation that adds; it has no activation, and alone reads the mean. The mean is of a float variable and
// keeps the axis.
std::optional<ShiftedMean> shifted_mean(const Model& model, const Uses& uses, const Operation& sum);

}  // namespace nnapi_convert::nnapi
