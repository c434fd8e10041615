// SPDX-License-Identifier: BSD-3-Clause
// Lets broadcasting operations read the input of a TILE instead of its output, if their other input has the full size.
// Then the expanded tensor costs nothing.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

void drop_tile(Model& model);

}  // namespace nnapi_convert::nnapi
