// What Android's runtime can't plan. It cuts a model with IF or WHILE, and the models that these run, into steps: IF
// and WHILE are steps, and so are the operations between them. A step may read an output of the main model that a step
// of plain operations wrote; it aborts the process where IF or WHILE wrote it, and where the output is one of a model
// that IF or WHILE runs (ExecutionPlan.cpp, findModelOutputsThatAreDownstreamInputs).
#pragma once

#include <string>

#include "lib/host_runtime/model.h"

namespace nnapi_convert::host {

// One sentence, or nothing. The model's operations are in order; `is_referenced`: IF or WHILE runs it.
std::string plan_problem(const Model& model, bool is_referenced);

}  // namespace nnapi_convert::host
