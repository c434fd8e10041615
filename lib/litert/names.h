// SPDX-License-Identifier: BSD-3-Clause
// Names of the format's operators and types.
#pragma once

#include <string>

#include "lib/litert/codes.h"

namespace nnapi_convert::litert {

// A code that this program never writes gets its number: "BUILTIN_150".
std::string name_of(Builtin code);
std::string name_of(TensorType type);

}  // namespace nnapi_convert::litert
