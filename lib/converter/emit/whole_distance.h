// SPDX-License-Identifier: BSD-3-Clause
// Measures how far a partitioned model's own results are from the float model's: the written module runs on the host's
// NNAPI.
#pragma once

#include "lib/base/diagnostics.h"
#include "lib/converter/emit/conversion.h"
#include "lib/quantise/quantise_plan.h"

namespace nnapi_convert {

// Measures the distance of a model that was quantised in parts, and checks it against --max-drop. Throws ConvertError:
// kNotConvertible where the model loses more, kVerificationFailed where the host's NNAPI doesn't run it.
void measure_whole(const Conversion& conversion, QuantisedPlan& quantised, Diagnostics& diagnostics);

}  // namespace nnapi_convert
