// SPDX-License-Identifier: BSD-3-Clause
// Finds models with IF or WHILE that abort Android's runtime. That runtime cuts a model with IF or WHILE, and the
// models that these operations run, into steps: each IF or WHILE is a step, and so are the plain operations between
// them. A step may read an output of the main model that a step of plain operations wrote. Android's runtime aborts the
// process if IF or WHILE wrote that output, or if it is an output of a model that IF or WHILE runs (ExecutionPlan.cpp,
// findModelOutputsThatAreDownstreamInputs).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/host_runtime/signature.h"

namespace nnapi_convert::host {

// A model for the check: its operations in an order that can run, and its outputs.
struct PlannedModel {
  const std::vector<Operation>& operations;
  const std::vector<uint32_t>& outputs;
  std::size_t operand_count;
};

// Returns a sentence about the problem, or an empty text. `is_referenced`: IF or WHILE runs the model.
std::string plan_problem(const PlannedModel& model, bool is_referenced);

}  // namespace nnapi_convert::host
