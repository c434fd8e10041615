// Converts a model of which NNAPI can run parts only.
#pragma once

#include <string>

#include "lib/converter/convert.h"

namespace nnapi_convert {

// `loaded` gives its module away, so that weights are freed as they are converted. `refusal` says why the whole can't
// be converted; it is thrown again, as ConvertError (kNotConvertible), where the model can't be partitioned either: a
// flexible size is not one of rows, another interface for quantised tensors is asked for, or no segment is worth a call
// of NNAPI.
Conversion convert_partitioned(LoadedModel& loaded, const ConvertOptions& options, const std::string& refusal,
                               Diagnostics& diagnostics);

}  // namespace nnapi_convert
