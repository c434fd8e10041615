// SPDX-License-Identifier: BSD-3-Clause
// Runs an execution and keeps its state. arguments.cpp sets its inputs and outputs.
#include "lib/host_runtime/execution.h"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "lib/host_runtime/failure.h"
#include "lib/host_runtime/guard.h"
#include "lib/host_runtime/half_precision.h"
#include "lib/host_runtime/log.h"

namespace nnapi_convert::host {

Burst::Burst(std::shared_ptr<const Compilation> compilation) : compilation_(std::move(compilation)) {
  if (!compilation_->finished()) fail(ResultCode::BAD_STATE, "burst: the compilation is not finished");
}

Execution::Execution(std::shared_ptr<const Compilation> compilation) : compilation_(std::move(compilation)) {
  if (!compilation_->finished()) fail(ResultCode::BAD_STATE, "execution: the compilation is not finished");
  inputs_.resize(compilation_->model().inputs().size());
  outputs_.resize(compilation_->model().outputs().size());
  results_.resize(outputs_.size());
}

void Execution::require_preparing(const char* what) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (state_ != State::kPreparing) fail(ResultCode::BAD_STATE, "{}: the execution has started already", what);
}

void Execution::require_one_chosen_device(const char* what) const {
  if (compilation_->on_one_chosen_device()) return;
  bad_data("{}: a compilation for exactly one chosen device is needed", what);
}

void Execution::set_loop_timeout(uint64_t nanoseconds) {
  require_preparing("setLoopTimeout");
  settings_.loop_timeout = std::min(to_duration(nanoseconds), kMaximumLoopTimeout);
  if (nanoseconds == 0) settings_.loop_timeout = kDefaultLoopTimeout;
}

void Execution::set_timeout(uint64_t nanoseconds) {
  require_one_chosen_device("setTimeout");
  require_preparing("setTimeout");
  timeout_ = nanoseconds;
}

void Execution::set_measure_timing(bool measure) {
  require_one_chosen_device("setMeasureTiming");
  require_preparing("setMeasureTiming");
  measure_ = measure;
}

void Execution::set_reusable(bool reusable) {
  require_preparing("setReusable");
  reusable_ = reusable;
}

void Execution::enable_padding(bool enable) {
  require_preparing("enableInputAndOutputPadding");
  if (any_set_) fail(ResultCode::BAD_STATE, "enableInputAndOutputPadding: an input or output is set already");
  padding_ = enable;
}

void Execution::require_all_set() const {
  for (const auto* arguments : {&inputs_, &outputs_}) {
    const char* what = arguments == &inputs_ ? "input" : "output";
    for (std::size_t i = 0; i < arguments->size(); ++i) {
      if (!(*arguments)[i].set) bad_data("compute: {} {} is not set", what, i);
    }
  }
}

void Execution::begin(const char* what) {
  require_all_set();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (state_ == State::kComputing) fail(ResultCode::BAD_STATE, "{}: the execution is computing already", what);
  if (state_ == State::kCompleted && !reusable_) {
    fail(ResultCode::BAD_STATE, "{}: the execution has computed already, and is not reusable", what);
  }
  state_ = State::kComputing;
}

void Execution::end(ResultCode code) {
  const std::lock_guard<std::mutex> lock(mutex_);
  code_ = code;
  state_ = State::kCompleted;
  idle_.notify_all();
}

bool Execution::wait_until_idle() const {
  std::unique_lock<std::mutex> lock(mutex_);
  const bool busy = state_ == State::kComputing;
  idle_.wait(lock, [this] { return state_ != State::kComputing; });
  return busy;
}

std::vector<Value> Execution::input_values() const {
  std::vector<Value> values(inputs_.size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Argument& input = inputs_[i];
    if (input.device) values[i] = input.device->read(fmt::format("input {}", i));
    if (!input.buffer) continue;  // omitted, or in a device memory
    values[i] = {input.shape, aligned_view_of(input.buffer, operand(Direction::kInput, i).type, input.shape.dims)};
  }
  return values;
}

// Returns the destination of each output; none if buffers of the caller overlap, as an operation might then read data
// that an output has overwritten.
std::vector<Destination> Execution::destinations() const {
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> ranges;
  for (const auto* arguments : {&inputs_, &outputs_}) {
    for (const Argument& argument : *arguments) {
      const auto begin = reinterpret_cast<std::uintptr_t>(argument.buffer);
      if (argument.buffer) ranges.emplace_back(begin, begin + argument.length);
    }
  }
  std::sort(ranges.begin(), ranges.end());
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first < ranges[i - 1].second) return {};
  }
  std::vector<Destination> result;
  for (const Argument& output : outputs_) result.push_back({output.buffer, output.length});
  return result;
}

void Execution::write_outputs(const std::vector<Value>& values) {
  std::string complaint;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Argument& output = outputs_[i];
    results_[i] = {values[i].shape, true};
    if (output.device) {
      output.device->write(values[i]);
      continue;
    }
    const int64_t needed = byte_length(operand(Direction::kOutput, i).type, values[i].shape);
    results_[i].fits = output.length >= static_cast<uint64_t>(needed);
    if (!results_[i].fits && complaint.empty()) {
      complaint = fmt::format("output {}: {} bytes found, {} needed", i, output.length, needed);
    }
    if (!results_[i].fits || needed == 0 || values[i].codes.data_ptr() == output.buffer) continue;
    std::memcpy(output.buffer, values[i].codes.contiguous().data_ptr(), static_cast<std::size_t>(needed));
  }
  if (!complaint.empty()) fail(ResultCode::OUTPUT_INSUFFICIENT_SIZE, "{}", complaint);
}

void Execution::run(const RunSettings& settings) {
  const c10::InferenceMode inference;
  const auto start = RunSettings::Clock::now();
  std::vector<Shape> declared;
  for (const Argument& output : outputs_) declared.push_back(output.shape);
  const std::vector<Value> inputs = input_values();
  const auto started = RunSettings::Clock::now();
  const std::vector<Value> outputs = Run(compilation_->program(), settings).compute(inputs, declared, destinations());
  const auto computed = RunSettings::Clock::now();
  write_outputs(outputs);
  on_hardware_ = computed - started;
  in_driver_ = RunSettings::Clock::now() - start;
}

void Execution::finish_computation(uint64_t nanoseconds) {
  RunSettings settings = settings_;
  // The shorter of the two limits counts. 0 means no limit: 0 - 1 is the greatest number.
  const uint64_t limit = std::min(timeout_ - 1, nanoseconds - 1);
  if (limit != std::numeric_limits<uint64_t>::max()) {
    const auto now = RunSettings::Clock::now();
    settings.deadline = now + std::min(to_duration(limit + 1), RunSettings::Clock::time_point::max() - now);
  }
  try {
    const std::unique_ptr<Trace> trace = Trace::begin();
    settings.trace = trace.get();
    settings.logs_operations = logs(LogLevel::kDebug);
    settings.half_results = rounds_to_half(compilation_->model());
    run(settings);
  } catch (...) {
    const ResultCode code = code_of_exception();
    if (code != ResultCode::OUTPUT_INSUFFICIENT_SIZE) {
      for (const Argument& output : outputs_) {
        if (output.device) output.device->invalidate();
      }
    }
    end(code);
    throw;
  }
  end(ResultCode::NO_ERROR);
}

void Execution::compute() {
  begin("compute");
  finish_computation(0);
}

void Execution::compute(Burst& burst) {
  if (burst.compilation() != compilation_.get()) bad_data("burstCompute: the burst is of another compilation");
  const std::unique_lock<std::mutex> busy(burst.busy(), std::try_to_lock);
  if (!busy) fail(ResultCode::BAD_STATE, "burstCompute: the burst is computing another execution");
  begin("burstCompute");
  finish_computation(0);
}

ResultCode Execution::run_after(const std::vector<std::shared_ptr<const Event>>& dependencies, uint64_t nanoseconds) {
  return guarded_code([&] {
    for (std::size_t i = 0; i < dependencies.size(); ++i) {
      if (dependencies[i]->wait() == ResultCode::NO_ERROR) continue;
      end(ResultCode::OP_FAILED);
      fail(ResultCode::OP_FAILED, "startComputeWithDependencies: dependency {} has failed", i);
    }
    finish_computation(nanoseconds);
  });
}

std::unique_ptr<Event> Execution::start(std::vector<std::shared_ptr<const Event>> dependencies, uint64_t nanoseconds) {
  begin("startCompute");
  try {
    return std::make_unique<BackgroundEvent>([self = shared_from_this(), dependencies = std::move(dependencies),
                                              nanoseconds] { return self->run_after(dependencies, nanoseconds); });
  } catch (...) {  // the system gave no thread
    end(ResultCode::OUT_OF_MEMORY);
    throw;
  }
}

void Execution::require_completed(const char* what) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (state_ != State::kCompleted) fail(ResultCode::BAD_STATE, "{}: the execution has not computed yet", what);
  if (code_ == ResultCode::NO_ERROR || code_ == ResultCode::OUTPUT_INSUFFICIENT_SIZE) return;
  fail(ResultCode::BAD_STATE, "{}: the execution has failed", what);
}

const Dims& Execution::output_dims(int32_t index) const {
  require_completed("output dimensions");
  if (index < 0 || static_cast<std::size_t>(index) >= results_.size()) {
    bad_data("output index {} found, below {} needed", index, results_.size());
  }
  return results_[static_cast<std::size_t>(index)].shape.dims;
}

bool Execution::output_fits(int32_t index) const {
  return results_[static_cast<std::size_t>(index)].fits;
}

uint64_t Execution::duration(int32_t code) const {
  require_completed("getDuration");
  if (code_ != ResultCode::NO_ERROR) fail(ResultCode::BAD_STATE, "getDuration: the execution has failed");
  if (!measure_) fail(ResultCode::BAD_STATE, "getDuration: the execution was not asked to measure it");
  switch (static_cast<DurationCode>(code)) {
    case DurationCode::kOnHardware:
    case DurationCode::kFencedOnHardware:
      return static_cast<uint64_t>(on_hardware_.count());
    case DurationCode::kInDriver:
    case DurationCode::kFencedInDriver:
      return static_cast<uint64_t>(in_driver_.count());
  }
  bad_data("getDuration: code {} found, 0 to 3 needed", code);
}

}  // namespace nnapi_convert::host
