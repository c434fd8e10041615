// SPDX-License-Identifier: BSD-3-Clause
// Computes how much rounding the weights changes the mean of each output channel, to take it off the channel's bias.
#pragma once

#include "lib/nnapi/model.h"
#include "lib/quantise/assign.h"
#include "lib/quantise/observe.h"
#include "lib/quantise/rewrite.h"

namespace nnapi_convert::quantise {

// Returns the changes for the assignment's integer operations, from the measured means of their inputs.
BiasChanges bias_changes(const nnapi::Model& model, const Observations& observations, const Assignment& assignment,
                         const nnapi::IntegerRules& rules, WeightCache* cache = nullptr);

}  // namespace nnapi_convert::quantise
