// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/plan_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "lib/host_runtime/kernel.h"

namespace nnapi_convert::host {
namespace {

bool is_step_of_its_own(const Operation& operation) {
  return operation.code == OperationCode::IF || operation.code == OperationCode::WHILE;
}

using Steps = std::set<std::size_t>;  // indices of IF and WHILE operations

// Finds, for each operand, the IF and WHILE operations that have to run before it has a value.
class Before {
 public:
  explicit Before(const PlannedModel& model) : of_operand_(model.operand_count) {
    for (const Operation& operation : model.operations) {
      Steps steps = of_inputs(operation);
      if (is_step_of_its_own(operation)) steps.insert(operation.index);
      for (const uint32_t output : operation.outputs) of_operand_[output] = steps;
    }
  }

  const Steps& of_operand(uint32_t operand) const { return of_operand_[operand]; }

  Steps of_inputs(const Operation& operation) const {
    Steps steps;
    for (const uint32_t input : operation.inputs) steps.insert(of_operand_[input].begin(), of_operand_[input].end());
    return steps;
  }

 private:
  std::vector<Steps> of_operand_;
};

const Operation* writer_of(const PlannedModel& model, uint32_t operand) {
  for (const Operation& operation : model.operations) {
    if (std::count(operation.outputs.begin(), operation.outputs.end(), operand) != 0) return &operation;
  }
  return nullptr;
}

}  // namespace

std::string plan_problem(const PlannedModel& model, bool is_referenced) {
  const auto& operations = model.operations;
  if (std::none_of(operations.begin(), operations.end(), is_step_of_its_own)) return "";
  const Before before(model);
  for (std::size_t n = 0; n < model.outputs.size(); ++n) {
    const uint32_t output = model.outputs[n];
    const Operation* writer = writer_of(model, output);
    for (const Operation& reader : operations) {
      const bool reads = std::count(reader.inputs.begin(), reader.inputs.end(), output) != 0;
      if (!reads || writer == nullptr || is_step_of_its_own(reader)) continue;
      const bool is_later_step = before.of_inputs(reader) != before.of_operand(output);
      if (!is_step_of_its_own(*writer) && !(is_referenced && is_later_step)) continue;
      return fmt::format(
          "output {} is written by {} and read by {}: an output that another step of the plan reads aborts "
          "Android's runtime; a copy needed for one of them",
          n, subject_of(*writer), subject_of(reader));
    }
  }
  return "";
}

}  // namespace nnapi_convert::host
