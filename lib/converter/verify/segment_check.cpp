// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/verify/segment_check.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "lib/base/error.h"
#include "lib/format/operation_table.h"

namespace nnapi_convert {

[[noreturn]] void refuse_another_model(const std::string& found) {
  throw ConvertError(ExitCode::kBadFile,
                     fmt::format("the original, converted as the file says, gives another NNAPI model: {}; give the "
                                 "original that the file was made from, or convert it again",
                                 found));
}

namespace {

bool same_ids(const std::vector<nnapi::OperandId>& ids, const uint32_t* found, uint32_t count) {
  return ids.size() == count && std::equal(ids.begin(), ids.end(), found, [](nnapi::OperandId id, uint32_t other) {
           return static_cast<uint32_t>(id) == other;
         });
}

using nnapi_shim::OperandView;

// True if all fixed sizes are those of the file's operand.
bool same_sizes(const Dims& now, const OperandView& file) {
  if (now.size() != file.rank) return false;
  for (size_t i = 0; i < now.size(); ++i) {
    if (now[i].is_fixed() && static_cast<uint64_t>(now[i].value()) != static_cast<uint64_t>(file.dims[i])) return false;
  }
  return true;
}

// Throws unless the file has the same operations: only then the conversion's operands are those of the file.
void check_same(const nnapi::Model& model, const nnapi_shim::SubgraphView& file, size_t segment) {
  if (model.operations.size() != file.operations.size() || model.operands.size() != file.operands.size()) {
    refuse_another_model(fmt::format("segment {} has {} operations and {} operands in the file, {} and {} now", segment,
                                     file.operations.size(), file.operands.size(), model.operations.size(),
                                     model.operands.size()));
  }
  for (size_t i = 0; i < model.operands.size(); ++i) {
    if (same_sizes(model.operands[i].dims, file.operands[i])) continue;
    refuse_another_model(fmt::format("segment {}, operand {} has other sizes in the file than now", segment, i));
  }
  for (size_t i = 0; i < model.operations.size(); ++i) {
    const nnapi::Operation& now = model.operations[i];
    const nnapi_shim::OperationView& then = file.operations[i];
    const bool is_same = static_cast<int32_t>(now.code) == then.code &&
                         same_ids(now.inputs, then.inputs, then.input_count) &&
                         same_ids(now.outputs, then.outputs, then.output_count);
    if (is_same) continue;
    refuse_another_model(fmt::format("segment {}, operation {} is {} in the file, {} now, or reads others", segment, i,
                                     name_of(static_cast<OperationCode>(then.code)), name_of(now.code)));
  }
}

}  // namespace

SegmentCheck::SegmentCheck(const nnapi::Model& model, SegmentModel file, size_t number)
    : model_(model), file_(std::move(file)), number_(number), producers_(nnapi::Uses(model).producer) {
  check_same(model, file_.main(), number);
}

void SegmentCheck::compare(const ReferenceValues& reference, const std::vector<at::Tensor>& given) {
  take_known(reference, given);
  if (!knows_inputs()) {
    ++other_sizes_;
    return;
  }
  if (values_.empty() && unchecked_.empty()) make_steps();
  if (!std::all_of(steps_.begin(), steps_.end(), [this](const Step& step) { return knows_all_of(step); })) {
    ++other_sizes_;
    return;
  }
  const std::vector<at::Tensor> in_one_go = run_all();
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    const std::vector<at::Tensor> own = file_.run(step.operations, step.inputs, known_of(step.inputs), {step.output});
    add(values_[i], step.output, own[0], in_one_go[i]);
  }
}

void SegmentCheck::take_known(const ReferenceValues& reference, const std::vector<at::Tensor>& given) {
  known_.clear();
  for (const nnapi::Boundary& input : model_.inputs) {
    if (input.argument < given.size()) know(static_cast<uint32_t>(input.operand), given[input.argument]);
  }
  for (uint32_t id = 0; id < model_.operands.size(); ++id) {
    const auto found = reference.find(described(id).name);
    if (!described(id).name.empty() && found != reference.end() && !is_known(id)) know(id, found->second);
  }
}

void SegmentCheck::know(uint32_t id, const at::Tensor& tensor) {
  if (!is_comparable(operand(id)) || described(id).is_constant()) return;
  const at::Tensor physical = to_physical(tensor, operand(id), described(id).is_nhwc);
  if (!physical.defined()) return;
  known_[id] = physical;
}

std::vector<at::Tensor> SegmentCheck::known_of(const std::vector<uint32_t>& ids) const {
  std::vector<at::Tensor> tensors;
  for (const uint32_t id : ids) tensors.push_back(known_.at(id));
  return tensors;
}

void SegmentCheck::make_steps() {
  std::set<size_t> covered;
  for (size_t i = 0; i < model_.operations.size(); ++i) {
    for (const nnapi::OperandId id : model_.operations[i].outputs) {
      if (!is_known(static_cast<uint32_t>(id))) continue;
      Step step;
      step.output = static_cast<uint32_t>(id);
      if (!collect(i, step)) continue;
      std::sort(step.operations.begin(), step.operations.end());
      covered.insert(step.operations.begin(), step.operations.end());
      values_.push_back(described_step(step));
      steps_.push_back(std::move(step));
    }
  }
  for (size_t i = 0; i < model_.operations.size(); ++i) {
    if (covered.count(i) == 0) unchecked_.push_back(place(i) + ": it leads to no value that TorchScript has");
  }
}

// Adds the operation, and those before it up to known values. Returns false if one reads a value that isn't known.
bool SegmentCheck::collect(size_t operation, Step& step) const {
  if (std::count(step.operations.begin(), step.operations.end(), operation) != 0) return true;
  step.operations.push_back(operation);
  const std::vector<nnapi::OperandId>& inputs = model_.operations[operation].inputs;
  return std::all_of(inputs.begin(), inputs.end(), [&](nnapi::OperandId input) {
    const auto id = static_cast<uint32_t>(input);
    if (described(id).is_constant()) return true;
    const int producer = producers_[id];
    if (!is_known(id)) return producer >= 0 && collect(static_cast<size_t>(producer), step);
    if (std::count(step.inputs.begin(), step.inputs.end(), id) == 0) step.inputs.push_back(id);
    return true;
  });
}

bool SegmentCheck::knows_all_of(const Step& step) const {
  return is_known(step.output) &&
         std::all_of(step.inputs.begin(), step.inputs.end(), [this](uint32_t id) { return is_known(id); });
}

bool SegmentCheck::knows_inputs() const {
  return std::all_of(model_.inputs.begin(), model_.inputs.end(),
                     [this](const nnapi::Boundary& input) { return is_known(static_cast<uint32_t>(input.operand)); });
}

std::vector<std::string> SegmentCheck::unchecked() const {
  std::vector<std::string> result = unchecked_;
  if (other_sizes_ > 0) {
    result.push_back(
        fmt::format("segment {}, {} of its runs: TorchScript has no value of NNAPI's sizes for an input "
                    "or a result",
                    number_, other_sizes_));
  }
  return result;
}

std::string SegmentCheck::place(size_t number) const {
  const nnapi::Operation& operation = model_.operations[number];
  return fmt::format("segment {}, operation {} ({}){}", number_, number, name_of(operation.code),
                     operation.source.empty() ? "" : " from " + operation.source);
}

CheckedValue SegmentCheck::described_step(const Step& step) const {
  CheckedValue value;
  value.segment = number_;
  value.operation = step.operations.back();
  for (const size_t number : step.operations) {
    value.operations.emplace_back(name_of(model_.operations[number].code));
  }
  value.where = model_.operations[value.operation].source;
  value.value = described(step.output).name;
  const bool is_float = described(step.output).type == OperandCode::TENSOR_FLOAT32;
  const bool is_quantised = nnapi::is_quant8(described(step.output).type);
  value.unit = is_float ? "of range" : is_quantised ? "quanta" : "absolute";
  value.tolerance = is_float       ? OperationCheckDefaults::kFloatTolerance
                    : is_quantised ? OperationCheckDefaults::kQuanta
                                   : 0;
  value.lowest = std::numeric_limits<double>::infinity();
  value.highest = -value.lowest;
  return value;
}

// Runs the whole segment on its inputs. Returns the results of all steps.
std::vector<at::Tensor> SegmentCheck::run_all() const {
  std::vector<size_t> operations;
  for (size_t i = 0; i < model_.operations.size(); ++i) operations.push_back(i);
  std::vector<uint32_t> inputs, outputs;
  for (const nnapi::Boundary& input : model_.inputs) {
    inputs.push_back(static_cast<uint32_t>(input.operand));
  }
  for (const Step& step : steps_) outputs.push_back(step.output);
  return outputs.empty() ? std::vector<at::Tensor>() : file_.run(operations, inputs, known_of(inputs), outputs);
}

// Returns the largest difference. It is 0 where both numbers are NaN, and without limit where only one is.
double SegmentCheck::error_of(const at::Tensor& expected, const at::Tensor& found) const {
  if (expected.numel() == 0) return 0;
  const at::Tensor same = expected.eq(found).logical_or(expected.isnan().logical_and(found.isnan()));
  const double error = (expected - found).abs().masked_fill(same, 0).max().item().toDouble();
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

void SegmentCheck::add(CheckedValue& value, uint32_t id, const at::Tensor& own, const at::Tensor& in_one_go) {
  ++value.runs;
  const bool is_nhwc = described(id).is_nhwc;
  const at::Tensor expected = to_real(known_.at(id), operand(id), is_nhwc);
  if (expected.numel() > 0) {
    value.lowest = std::min(value.lowest, expected.min().item().toDouble());
    value.highest = std::max(value.highest, expected.max().item().toDouble());
  }
  double unit = 1;
  if (value.unit == "quanta") unit = operand(id).scale;
  if (value.unit == "of range") {
    const double range = value.highest - value.lowest;
    unit = range > 0 && std::isfinite(range) ? range : std::max(std::abs(value.highest), 1.0);
  }
  value.own_error = std::max(value.own_error, error_of(expected, to_real(own, operand(id), is_nhwc)) / unit);
  value.error = std::max(value.error, error_of(expected, to_real(in_one_go, operand(id), is_nhwc)) / unit);
}

}  // namespace nnapi_convert
