// Outputs of a subgraph that are an input of it, a constant or a repeat of another output become copies: NNAPI takes no
// model that has such ones.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Leaves other models as they are: the caller's module gives such outputs itself.
void separate_outputs(Model& model);

}  // namespace nnapi_convert::nnapi
