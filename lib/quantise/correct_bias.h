// SPDX-License-Identifier: BSD-3-Clause
// What rounding the weights adds to the mean of each output channel, to be taken off its bias.
#pragma once

#include "lib/nnapi/model.h"
#include "lib/quantise/assign.h"
#include "lib/quantise/observe.h"
#include "lib/quantise/rewrite.h"

namespace nnapi_convert::quantise {

// For the integer operations of the assignment, from the measured means of what they read.
BiasChanges bias_changes(const nnapi::Model& model, const Observations& observations, const Assignment& assignment,
                         const nnapi::IntegerRules& rules, WeightCache* cache = nullptr);

}  // namespace nnapi_convert::quantise
