// SPDX-License-Identifier: BSD-3-Clause
// Concatenations that one scale doesn't fit.
#pragma once

#include <vector>

#include "lib/nnapi/model.h"
#include "lib/quantise/observe.h"

namespace nnapi_convert::quantise {

constexpr double kUneven = 16;

// By operation: of a CONCATENATION that is an output or leads to one, with no weights between, how many times the
// largest range of its parts is the smallest, where that is kUneven or more; 0 for other operations. One scale for all
// parts leaves the smallest one few steps.
std::vector<double> uneven_joints(const nnapi::Model& model, const Observations& observations);

}  // namespace nnapi_convert::quantise
