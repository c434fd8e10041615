// What Android's runtime can't plan. It cuts a model with IF or WHILE, and the models that these run, into steps: IF
// and WHILE are steps, and so are the operations between them. A step may read an output of the main model that a step
// of plain operations wrote; it aborts the process where IF or WHILE wrote it, and where the output is one of a model
// that IF or WHILE runs (ExecutionPlan.cpp, findModelOutputsThatAreDownstreamInputs).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/host_runtime/signature.h"

namespace nnapi_convert::host {

// A model as the plan sees it: operations in an order that can run, and the operands that are its outputs.
struct PlannedModel {
  const std::vector<Operation>& operations;
  const std::vector<uint32_t>& outputs;
  std::size_t operand_count;
};

// One sentence, or nothing. `is_referenced`: IF or WHILE runs the model.
std::string plan_problem(const PlannedModel& model, bool is_referenced);

}  // namespace nnapi_convert::host
