// Which operations treat every element alike.
#pragma once

#include "lib/format/nnapi_codes.h"

namespace nnapi_convert::nnapi {

// The inputs are broadcast against each other, where there are several.
bool is_elementwise(OperationCode code);

}  // namespace nnapi_convert::nnapi
