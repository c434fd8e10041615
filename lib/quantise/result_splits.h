// SPDX-License-Identifier: BSD-3-Clause
// Finds results of a model that join parts of unlike ranges, such as boxes in pixels and scores (--split-output).
#pragma once

#include <vector>

#include "lib/converter/frontend/frontend.h"
#include "lib/converter/frontend/split_results.h"
#include "lib/converter/plan/nnapi_part.h"

namespace nnapi_convert {

// Returns a split for each float result of a whole model that concatenations join, along the axis where the parts'
// ranges differ most, if the largest is at least 16 times the smallest. Runs the model on the host's NNAPI, on bundled
// inputs or seeded numbers. Results with flexible sizes, and joints that later reshapes hide, stay whole. Throws
// NoSample, and ConvertError (kVerificationFailed) if the model doesn't run.
std::vector<ResultSplit> uneven_results(const NnapiPart& part, Frontend& frontend);

}  // namespace nnapi_convert
