// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-probe/doctor/cut_model.h"

#include <algorithm>
#include <map>

#include "lib/format/nnapi_codes.h"
#include "tools/nnapi-probe/doctor/comparison.h"

namespace nnapi_doctor {
namespace {

using nnapi_shim::OperationView;
using nnapi_shim::SubgraphView;

// Numbers the operands of a cut model in the order in which they are first asked for.
class Renumbering {
 public:
  Renumbering(const SubgraphView& from, SubgraphView* to) : from_(from), to_(to) {}

  uint32_t operator()(uint32_t operand) {
    const auto found = numbers_.emplace(operand, static_cast<uint32_t>(to_->operands.size()));
    if (found.second) to_->operands.push_back(from_.operands[operand]);
    return found.first->second;
  }
  bool has(uint32_t operand) const { return numbers_.count(operand) != 0; }

 private:
  const SubgraphView& from_;
  SubgraphView* to_;
  std::map<uint32_t, uint32_t> numbers_;
};

void add_once(std::vector<uint32_t>* list, uint32_t number) {
  if (std::find(list->begin(), list->end(), number) == list->end()) list->push_back(number);
}

}  // namespace

ModelCutter::ModelCutter(const nnapi_shim::ModelView& view)
    : view_(view),
      constants_(main().operands.size()),
      outputs_(main().operands.size()),
      producers_(main().operands.size(), -1),
      reading_operations_(main().operands.size()) {
  for (const nnapi_shim::ValueView& value : main().values) constants_[value.operand] = true;
  for (const uint32_t output : main().output_operands) outputs_[output] = true;
  for (uint32_t number = 0; number < main().operations.size(); ++number) {
    const OperationView& operation = main().operations[number];
    for (uint32_t i = 0; i < operation.input_count; ++i) reading_operations_[operation.inputs[i]].push_back(number);
    for (uint32_t i = 0; i < operation.output_count; ++i) producers_[operation.outputs[i]] = number;
  }
}

std::vector<uint32_t> ModelCutter::producers_of(uint32_t number) const {
  const OperationView& operation = main().operations[number];
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < operation.input_count; ++i) {
    const int64_t made_by = producers_[operation.inputs[i]];
    if (made_by >= 0) add_once(&found, static_cast<uint32_t>(made_by));
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool ModelCutter::reads_input(uint32_t number) const {
  const OperationView& operation = main().operations[number];
  const std::vector<uint32_t>& inputs = main().input_operands;
  return std::any_of(operation.inputs, operation.inputs + operation.input_count, [&](uint32_t operand) {
    return std::find(inputs.begin(), inputs.end(), operand) != inputs.end();
  });
}

int64_t ModelCutter::dequantised_from(uint32_t operand) const {
  const int64_t made_by = producers_[operand];
  if (made_by < 0) return -1;
  const OperationView& operation = main().operations[static_cast<size_t>(made_by)];
  const bool is_dequantised = operation.code == static_cast<int32_t>(nnapi_convert::OperationCode::DEQUANTIZE);
  return is_dequantised ? static_cast<int64_t>(operation.inputs[0]) : -1;
}

bool ModelCutter::follows_integers(uint32_t operand, const std::vector<uint32_t>& operations) const {
  std::vector<uint32_t> open = {operand};
  std::vector<bool> is_seen(producers_.size());
  while (!open.empty()) {
    const int64_t made_by = producers_[open.back()];
    open.pop_back();
    if (made_by < 0 || !std::binary_search(operations.begin(), operations.end(), static_cast<uint32_t>(made_by))) {
      continue;
    }
    const OperationView& operation = main().operations[static_cast<size_t>(made_by)];
    for (uint32_t i = 0; i < operation.input_count; ++i) {
      const uint32_t input = operation.inputs[i];
      const int64_t made_before = producers_[input];
      if (is_seen[input] || made_before < 0) continue;
      const bool is_cut = std::binary_search(operations.begin(), operations.end(), static_cast<uint32_t>(made_before));
      if (is_cut && is_quantised(main().operands[input].type)) return true;
      is_seen[input] = true;
      open.push_back(input);
    }
  }
  return false;
}

CutModel ModelCutter::cut(const std::vector<uint32_t>& operations) const {
  CutModel cut;
  cut.view.feature_level = view_.feature_level;
  cut.view.preference = view_.preference;
  cut.view.relax_fp16 = view_.relax_fp16;
  cut.view.models = view_.models;  // subgraphs stay as they are
  cut.view.words = view_.words;
  cut.view.models[0] = SubgraphView();
  cut.lists = std::make_shared<std::vector<std::vector<uint32_t>>>();
  SubgraphView& to = cut.view.models[0];
  Renumbering renumbered(main(), &to);
  const auto is_cut = [&](uint32_t number) { return std::binary_search(operations.begin(), operations.end(), number); };
  std::vector<uint32_t> results;
  cut.lists->reserve(2 * operations.size());
  for (const uint32_t number : operations) {
    OperationView operation = main().operations[number];
    std::vector<uint32_t> inputs, outputs;
    for (uint32_t i = 0; i < operation.input_count; ++i) {
      const uint32_t operand = operation.inputs[i];
      inputs.push_back(renumbered(operand));
      const int64_t made_by = producers_[operand];
      if (!constants_[operand] && (made_by < 0 || !is_cut(static_cast<uint32_t>(made_by)))) {
        add_once(&cut.inputs, operand);
      }
    }
    for (uint32_t i = 0; i < operation.output_count; ++i) {
      const uint32_t operand = operation.outputs[i];
      outputs.push_back(renumbered(operand));
      results.push_back(operand);
      const std::vector<uint32_t>& readers = reading_operations_[operand];
      if (outputs_[operand] || !std::all_of(readers.begin(), readers.end(), is_cut)) cut.outputs.push_back(operand);
    }
    cut.lists->push_back(std::move(inputs));
    operation.inputs = cut.lists->back().data();
    cut.lists->push_back(std::move(outputs));
    operation.outputs = cut.lists->back().data();
    to.operations.push_back(operation);
  }
  if (cut.outputs.empty()) cut.outputs = results;
  for (nnapi_shim::ValueView value : main().values) {
    if (!renumbered.has(value.operand)) continue;
    value.operand = renumbered(value.operand);
    to.values.push_back(value);
  }
  for (const uint32_t operand : cut.inputs) to.input_operands.push_back(renumbered(operand));
  for (const uint32_t operand : cut.outputs) to.output_operands.push_back(renumbered(operand));
  for (const uint32_t operand : to.input_operands) to.inputs.push_back({operand, 0});
  for (const uint32_t operand : to.output_operands) to.outputs.push_back({operand});
  return cut;
}

}  // namespace nnapi_doctor
