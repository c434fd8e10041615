// SPDX-License-Identifier: BSD-3-Clause
// Adds copies for outputs that NNAPI or Android's runtime can't take as they are. NNAPI refuses a model with an output
// that is an input, a constant or another output. Android's runtime aborts the process if an operation reads an output
// of its model that IF or WHILE wrote, or an output of its subgraph that another step of the runtime's plan wrote.
// An IF or WHILE, or a change of device, begins a new step.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// In a model that is no subgraph, outputs that are inputs, constants or repeats stay: the caller's module returns them
// itself.
void separate_outputs(Model& model);

}  // namespace nnapi_convert::nnapi
