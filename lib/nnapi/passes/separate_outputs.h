// Outputs that have to be results of their own become copies. NNAPI takes no model with an output that is an input, a
// constant or a repeat of another output. Android's runtime aborts the process where an output that IF or WHILE writes
// is also read in its model, and where an output of a subgraph is also read in it, once the reader is in another step
// of its plan than the writer: behind an IF or WHILE, or on another device.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Inputs, constants and repeats of a model that is no subgraph are left: the caller's module gives such outputs itself.
void separate_outputs(Model& model);

}  // namespace nnapi_convert::nnapi
