// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/separate_outputs.h"

#include <set>
#include <vector>

#include "lib/format/operation_table.h"
#include "lib/nnapi/builder.h"

namespace nnapi_convert::nnapi {
namespace {

// Appends a copy: a CAST to the same type. CAST takes every type from feature level 4 on; IF and WHILE need that level.
OperandId copy_of(Builder& builder, OperandId id) {
  Operand copy = builder.model().at(id);
  copy.value = {};
  return builder.add(OperationCode::CAST, {id}, copy);
}

// Returns which operands operations read; includes operands that copies of repeated outputs will read.
std::vector<bool> read_operands(const Model& model) {
  std::vector<bool> is_read(model.operands.size(), false);
  std::set<OperandId> outputs;
  for (const Boundary& output : model.outputs) {
    if (!outputs.insert(output.operand).second) is_read[static_cast<size_t>(output.operand)] = true;
  }
  for (const Operation& operation : model.operations) {
    for (const OperandId id : operation.inputs) is_read[static_cast<size_t>(id)] = true;
  }
  return is_read;
}

// Returns the operands that IF and WHILE write.
std::set<OperandId> results_of_control_flow(const Model& model) {
  std::set<OperandId> results;
  for (const Operation& operation : model.operations) {
    if (!has_trait(operation.code, OperationTrait::kControlFlow)) continue;
    results.insert(operation.outputs.begin(), operation.outputs.end());
  }
  return results;
}

}  // namespace

void separate_outputs(Model& model) {
  Builder builder(model);
  const std::vector<bool> is_read = read_operands(model);
  const std::set<OperandId> chosen = results_of_control_flow(model);
  std::set<OperandId> taken;
  for (const Boundary& input : model.inputs) taken.insert(input.operand);
  for (Boundary& output : model.outputs) {
    const OperandId id = output.operand;
    const bool is_taken = model.is_subgraph && (!taken.insert(id).second || model.at(id).is_constant());
    const bool crosses_steps = is_read[static_cast<size_t>(id)] && (model.is_subgraph || chosen.count(id) != 0);
    if (is_taken || crosses_steps) output.operand = copy_of(builder, id);
  }
}

}  // namespace nnapi_convert::nnapi
