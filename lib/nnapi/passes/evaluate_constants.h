// Evaluates the recipes of all constants, one after the other: what each was made from is freed if nothing else holds
// it.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

void evaluate_constants(Model& model);

}  // namespace nnapi_convert::nnapi
