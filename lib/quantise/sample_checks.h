// SPDX-License-Identifier: BSD-3-Clause
// Checks the float model's values on the samples, before scales are chosen from them.
#pragma once

#include <string>
#include <vector>

#include "lib/quantise/observe.h"

namespace nnapi_convert::quantise {

// Throws ConvertError (kBadFile) if a tensor has no finite value in any sample. Adds a warning for each input of the
// model that has the same value everywhere.
void check_samples(const nnapi::Model& model, const Observations& observations, std::vector<std::string>& warnings);

}  // namespace nnapi_convert::quantise
