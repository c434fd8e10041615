// Lets operations that broadcast read what a TILE repeats, where their other input has the full size: an expanded
// tensor costs nothing then.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

void drop_tile(Model& model);

}  // namespace nnapi_convert::nnapi
