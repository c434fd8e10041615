// SPDX-License-Identifier: BSD-3-Clause
// Names of the format's operators and types.
#pragma once

#include <string>

#include "lib/litert/codes.h"

namespace nnapi_convert::litert {

// Returns the code's name, or its number, "BUILTIN_150", for a code that this program never writes.
std::string name_of(Builtin code);
std::string name_of(TensorType type);

}  // namespace nnapi_convert::litert
