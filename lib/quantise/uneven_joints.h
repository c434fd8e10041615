// SPDX-License-Identifier: BSD-3-Clause
// Finds concatenations that one scale doesn't fit.
#pragma once

#include <vector>

#include "lib/nnapi/model.h"
#include "lib/quantise/observe.h"

namespace nnapi_convert::quantise {

constexpr double kUneven = 16;

// Returns by operation, for a CONCATENATION that is an output or leads to one without weights between, the ratio of the
// largest to the smallest range of its parts, if that is kUneven or more; 0 for other operations. One scale for all
// parts leaves the smallest one few steps.
std::vector<double> uneven_joints(const nnapi::Model& model, const Observations& observations);

}  // namespace nnapi_convert::quantise
