// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/program.h"

#include <cstring>

#include "lib/host_runtime/failure.h"
#include "lib/host_runtime/half_precision.h"
#include "lib/host_runtime/log.h"
#include "lib/host_runtime/storage.h"

namespace nnapi_convert::host {
namespace {

std::vector<std::vector<uint32_t>> find_last_uses(const Model& model) {
  const auto& operations = model.operations();
  std::vector<bool> used_later(model.operands().size(), false);
  for (const uint32_t index : model.outputs()) used_later[index] = true;
  std::vector<std::vector<uint32_t>> last_uses(operations.size());
  for (std::size_t i = operations.size(); i-- > 0;) {
    for (const auto* indices : {&operations[i].inputs, &operations[i].outputs}) {
      for (const uint32_t index : *indices) {
        if (!used_later[index]) last_uses[i].push_back(index);
        used_later[index] = true;
      }
    }
  }
  return last_uses;
}

}  // namespace

Program::Program(const Model& model) : model_(model), last_uses_(find_last_uses(model)) {
  for (const Operand& operand : model.operands()) {
    if (!operand.model || inner_.count(operand.model.get()) > 0) continue;
    inner_[operand.model.get()] = std::make_unique<const Program>(*operand.model);
  }
}

Run::Run(const Program& program, const RunSettings& settings, const Frame* frame)
    : program_(program), settings_(settings), frame_(frame) {}

void Run::take_inputs(const std::vector<Value>& inputs) {
  const Model& model = program_.model();
  shapes_ = model.shapes();
  values_.assign(model.operands().size(), at::Tensor());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].codes.defined()) continue;  // omitted; an operation that needs it complains
    const uint32_t index = model.inputs()[i];
    if (!merged(shapes_[index], inputs[i].shape)) {
      bad_data("model input {}: dimensions {} found, {} needed", i, to_string(inputs[i].shape),
               to_string(shapes_[index]));
    }
    shapes_[index] = inputs[i].shape;
    values_[index] = inputs[i].codes;
  }
}

void Run::round_results(const Operation& operation) {
  for (std::size_t i = 0; i < operation.outputs.size(); ++i) {
    const uint32_t index = operation.outputs[i];
    if (program_.model().operands()[index].type != OperandCode::TENSOR_FLOAT32) continue;
    std::optional<Overflow> overflow = round_to_half(values_[index]);
    if (!overflow) continue;
    overflow->output = i;
    log(LogLevel::kDebug, "{}: {} in output {} is too large for half precision", subject_of(operation), overflow->value,
        i);
    if (settings_.trace) settings_.trace->add_overflow(operation, frame_, *overflow);
  }
}

void Run::trace(const Operation& operation, std::chrono::nanoseconds taken) const {
  std::vector<const Operand*> operands;
  std::vector<Value> outputs;
  for (const uint32_t index : operation.outputs) {
    operands.push_back(&program_.model().operands()[index]);
    outputs.push_back({shapes_[index], values_[index]});
  }
  settings_.trace->add_operation(operation, frame_, taken, operands, outputs);
}

void Run::compute(const Operation& operation) {
  OpContext(operation, program_.model().operands(), shapes_, values_, *this).run();
  if (settings_.half_results) round_results(operation);
}

void Run::compute_timed(const Operation& operation) {
  const auto start = RunSettings::Clock::now();
  if (start >= settings_.deadline) {
    fail(ResultCode::MISSED_DEADLINE_TRANSIENT, "{}: not started, the execution's time is over", subject_of(operation));
  }
  compute(operation);
  const std::chrono::nanoseconds taken = RunSettings::Clock::now() - start;
  if (settings_.trace) trace(operation, taken);
  if (settings_.logs_operations) log(LogLevel::kDebug, "{}: {} ns", subject_of(operation), taken.count());
}

void Run::deliver_results(const Operation& operation) {
  for (const uint32_t index : operation.outputs) {
    const Destination& destination = destinations_[index];
    if (!destination.buffer || !values_[index].defined()) continue;
    const OperandCode type = program_.model().operands()[index].type;
    const auto needed = static_cast<std::size_t>(byte_length(type, shapes_[index]));
    const bool is_aligned =
        reinterpret_cast<std::uintptr_t>(destination.buffer) % static_cast<std::size_t>(element_bytes(type)) == 0;
    if (!is_aligned || needed == 0 || destination.length < needed) continue;
    std::memcpy(destination.buffer, values_[index].contiguous().data_ptr(), needed);
    values_[index] = view_of(destination.buffer, type, shapes_[index].dims);
  }
}

std::vector<Value> Run::compute(const std::vector<Value>& inputs, const std::vector<Shape>& declared,
                                const std::vector<Destination>& destinations) {
  const Model& model = program_.model();
  take_inputs(inputs);
  if (!destinations.empty()) destinations_.resize(model.operands().size());
  for (std::size_t i = 0; i < destinations.size(); ++i) destinations_[model.outputs()[i]] = destinations[i];
  for (std::size_t i = 0; i < declared.size(); ++i) {
    if (declared[i].rank_known) shapes_[model.outputs()[i]] = declared[i];
  }
  const bool timed = settings_.timed();
  for (std::size_t i = 0; i < model.operations().size(); ++i) {
    timed ? compute_timed(model.operations()[i]) : compute(model.operations()[i]);
    if (!destinations_.empty()) deliver_results(model.operations()[i]);
    for (const uint32_t index : program_.last_uses()[i]) values_[index].reset();
  }
  std::vector<Value> outputs;
  for (const uint32_t index : model.outputs()) outputs.push_back({shapes_[index], values_[index]});
  return outputs;
}

std::vector<Value> Run::run_inner(const Operation& operation, const char* argument, const Model& model,
                                  const std::vector<Value>& inputs, int64_t iteration) const {
  try {
    const Frame frame = {frame_, operation, argument, iteration};
    return Run(program_.inner(model), settings_, &frame).compute(inputs, {});
  } catch (const Failure& failure) {
    fail(failure.code(), "{}, argument {}, run {}: {}", subject_of(operation), argument, iteration, failure.what());
  }
}

}  // namespace nnapi_convert::host
