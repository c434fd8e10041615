// SPDX-License-Identifier: BSD-3-Clause
// Chooses the largest difference from the original that verify allows where --tolerance says nothing.
#pragma once

#include "lib/converter/load/converted_file.h"
#include "lib/converter/load/load.h"
#include "lib/converter/verify/verify_request.h"

namespace nnapi_convert {

// Returns the tolerance as a part of the range of the original's output.
double default_tolerance(const VerifyRequest& request, const ConvertedFile& converted, const LoadedModel& original);

// True for a model that rounds floats to the levels of quantised numbers: a sum that lies on the border of two levels
// may come to either.
bool rounds_to_levels(const LoadedModel& original);

}  // namespace nnapi_convert
