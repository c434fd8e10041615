// SPDX-License-Identifier: BSD-3-Clause
// Makes and reuses executions and bursts.
#include "lib/shim/execution.h"

#include "lib/shim/nnapi_names.h"

namespace nnapi_shim {
namespace {

constexpr size_t kMostIdle = 4;                    // executions that wait with their buffers
constexpr uint32_t kMostBursts = 4;                // further runs at the same time use no burst
constexpr int32_t kOnHardware = 0, kInDriver = 1;  // ANEURALNETWORKS_DURATION_*

bool same_addresses(const std::vector<const void*>& addresses, const RunBuffers& buffers) {
  const void* const* known = addresses.data();
  for (uint32_t i = 0; i < buffers.input_count; ++i) {
    if (*known++ != buffers.inputs[i].data) return false;
  }
  for (uint32_t i = 0; i < buffers.output_count; ++i) {
    if (*known++ != buffers.outputs[i].data) return false;
  }
  return true;
}

}  // namespace

int check_buffer(const char* what, uint32_t index, const nnapi_shim_buffer& found, size_t needed,
                 nnapi_shim_error* error) {
  if (found.bytes == needed && (found.data || needed == 0)) return NNAPI_SHIM_OK;
  if (!found.data && needed > 0) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "%s %u: its buffer is null, %zu bytes are needed", what, index, needed);
  }
  return fail(error, NNAPI_SHIM_BAD_ARGUMENT,
              "%s %u: its buffer has %zu bytes, for arguments of these shapes %zu are needed", what, index, found.bytes,
              needed);
}

int check_buffers(const RunBuffers& buffers, const CallTensors& tensors, nnapi_shim_error* error) {
  const size_t inputs = tensors.inputs.size(), outputs = tensors.outputs.size();
  if (buffers.input_count != inputs || buffers.output_count != outputs || (!buffers.inputs && inputs > 0) ||
      (!buffers.outputs && outputs > 0)) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT,
                "%u inputs and %u outputs were given, the model has %zu inputs and %zu outputs",
                buffers.inputs ? buffers.input_count : 0, buffers.outputs ? buffers.output_count : 0, inputs, outputs);
  }
  int status = NNAPI_SHIM_OK;
  for (uint32_t i = 0; i < inputs && status == NNAPI_SHIM_OK; ++i) {
    status = check_buffer("input", i, buffers.inputs[i], tensors.inputs[i].bytes, error);
  }
  for (uint32_t i = 0; i < outputs && status == NNAPI_SHIM_OK; ++i) {
    status = check_buffer("output", i, buffers.outputs[i], tensors.outputs[i].bytes, error);
  }
  return status;
}

ExecutionPool::ExecutionPool(const NnapiLibrary& library, const Options& options,
                             ANeuralNetworksCompilation* compilation, const std::string& devices)
    : library_(library),
      options_(options),
      compilation_(compilation),
      devices_(devices),
      reuses_(!options.no_reuse && !library.is_support_library && library.ANeuralNetworksExecution_setReusable),
      bursts_(!options.no_burst && library.ANeuralNetworksBurst_create && library.ANeuralNetworksBurst_free &&
              library.ANeuralNetworksExecution_burstCompute) {}

ExecutionPool::~ExecutionPool() {
  for (const Bound& bound : idle_) drop(bound.execution, nullptr);
  for (ANeuralNetworksBurst* burst : idle_bursts_) drop(nullptr, burst);
}

int ExecutionPool::run(const RunBuffers& buffers, DeviceTimes* times, nnapi_shim_error* error) {
  Bound bound;
  ANeuralNetworksBurst* burst = nullptr;
  const bool may_make_burst = take_idle(buffers, &bound, &burst);
  if (!bound.execution) {
    const int status = make(buffers, &bound, error);
    if (status != NNAPI_SHIM_OK) {
      give_back(nullptr, burst, true, false);
      return status;
    }
  }
  // A run goes without a burst if NNAPI makes none.
  if (!burst && may_make_burst && library_.ANeuralNetworksBurst_create(compilation_, &burst) != 0) burst = nullptr;
  const char* function = "";
  const int code = compute(bound.execution, burst, &function);
  if (code == 0 && options_.measure_timing) measure(bound.execution, times);
  give_back(&bound, burst, code == 0, may_reuse(buffers));
  return code == 0 ? NNAPI_SHIM_OK : fail_call(function, code, error);
}

// Takes an idle execution with these buffers and an idle burst, if there are any. Returns true if the caller may make a
// burst because none is idle; `burst_count_` then includes that burst.
bool ExecutionPool::take_idle(const RunBuffers& buffers, Bound* bound, ANeuralNetworksBurst** burst) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = buffers.has_shared() ? 0 : idle_.size(); i-- > 0;) {
    if (!same_addresses(idle_[i].addresses, buffers)) continue;
    *bound = std::move(idle_[i]);
    idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(i));
    break;
  }
  if (!bursts_) return false;
  if (!idle_bursts_.empty()) {
    *burst = idle_bursts_.back();
    idle_bursts_.pop_back();
    return false;
  }
  if (burst_count_ >= kMostBursts) return false;
  ++burst_count_;
  return true;
}

int ExecutionPool::make(const RunBuffers& buffers, Bound* bound, nnapi_shim_error* error) {
  ANeuralNetworksExecution* execution = nullptr;
  const int code = library_.ANeuralNetworksExecution_create(compilation_, &execution);
  if (code != 0 || !execution) return fail_call("ANeuralNetworksExecution_create", code, error);
  int status = set_options(execution, may_reuse(buffers), error);
  if (status == NNAPI_SHIM_OK) status = bind(buffers, execution, error);
  if (status != NNAPI_SHIM_OK) {
    drop(execution, nullptr);
    return status;
  }
  bound->execution = execution;
  if (!may_reuse(buffers)) return status;
  bound->addresses.reserve(buffers.input_count + buffers.output_count);
  for (uint32_t i = 0; i < buffers.input_count; ++i) bound->addresses.push_back(buffers.inputs[i].data);
  for (uint32_t i = 0; i < buffers.output_count; ++i) bound->addresses.push_back(buffers.outputs[i].data);
  return status;
}

int ExecutionPool::set_options(ANeuralNetworksExecution* execution, bool is_reusable, nnapi_shim_error* error) {
  int code = is_reusable ? library_.ANeuralNetworksExecution_setReusable(execution, true) : 0;
  if (code != 0) return fail_call("ANeuralNetworksExecution_setReusable", code, error);
  if (options_.measure_timing) code = library_.ANeuralNetworksExecution_setMeasureTiming(execution, true);
  if (code != 0) return fail_call("ANeuralNetworksExecution_setMeasureTiming", code, error);
  if (options_.execute_timeout_ns != 0) {
    code = library_.ANeuralNetworksExecution_setTimeout(execution, options_.execute_timeout_ns);
  }
  if (code != 0) return fail_call("ANeuralNetworksExecution_setTimeout", code, error);
  // A version of NNAPI without this function has no WHILE operation either.
  if (options_.loop_timeout_ns != 0 && library_.ANeuralNetworksExecution_setLoopTimeout) {
    code = library_.ANeuralNetworksExecution_setLoopTimeout(execution, options_.loop_timeout_ns);
  }
  return code == 0 ? NNAPI_SHIM_OK : fail_call("ANeuralNetworksExecution_setLoopTimeout", code, error);
}

int ExecutionPool::bind(const RunBuffers& buffers, ANeuralNetworksExecution* execution, nnapi_shim_error* error) {
  for (uint32_t i = 0; i < buffers.input_count; ++i) {
    const auto number = static_cast<int32_t>(i);
    if (buffers.shared_inputs && buffers.shared_inputs[i].memory) {
      const nnapi_shim_place& place = buffers.shared_inputs[i];
      const int code = library_.ANeuralNetworksExecution_setInputFromMemory(
          execution, number, nullptr, place.memory->handle(), place.offset, place.bytes);
      if (code != 0) return fail_call("ANeuralNetworksExecution_setInputFromMemory", code, error);
      continue;
    }
    const nnapi_shim_buffer& input = buffers.inputs[i];
    const int code = library_.ANeuralNetworksExecution_setInput(execution, number, nullptr, input.data, input.bytes);
    if (code != 0) return fail_call("ANeuralNetworksExecution_setInput", code, error);
  }
  for (uint32_t i = 0; i < buffers.output_count; ++i) {
    const auto number = static_cast<int32_t>(i);
    if (buffers.shared_outputs && buffers.shared_outputs[i].memory) {
      const nnapi_shim_place& place = buffers.shared_outputs[i];
      const int code = library_.ANeuralNetworksExecution_setOutputFromMemory(
          execution, number, nullptr, place.memory->handle(), place.offset, place.bytes);
      if (code != 0) return fail_call("ANeuralNetworksExecution_setOutputFromMemory", code, error);
      continue;
    }
    const nnapi_shim_buffer& output = buffers.outputs[i];
    const int code = library_.ANeuralNetworksExecution_setOutput(execution, number, nullptr, output.data, output.bytes);
    if (code != 0) return fail_call("ANeuralNetworksExecution_setOutput", code, error);
  }
  return NNAPI_SHIM_OK;
}

int ExecutionPool::compute(ANeuralNetworksExecution* execution, ANeuralNetworksBurst* burst, const char** function) {
  if (burst) {
    *function = "ANeuralNetworksExecution_burstCompute";
    return library_.ANeuralNetworksExecution_burstCompute(execution, burst);
  }
  if (library_.ANeuralNetworksExecution_compute) {
    *function = "ANeuralNetworksExecution_compute";
    return library_.ANeuralNetworksExecution_compute(execution);
  }
  return compute_in_background(execution, function);
}

int ExecutionPool::compute_in_background(ANeuralNetworksExecution* execution, const char** function) {
  ANeuralNetworksEvent* event = nullptr;
  *function = "ANeuralNetworksExecution_startCompute";
  int code = library_.ANeuralNetworksExecution_startCompute(execution, &event);
  if (code == 0 && event) {
    *function = "ANeuralNetworksEvent_wait";
    code = library_.ANeuralNetworksEvent_wait(event);
  }
  if (event) library_.ANeuralNetworksEvent_free(event);
  return code;
}

void ExecutionPool::measure(const ANeuralNetworksExecution* execution, DeviceTimes* times) {
  uint64_t on_device = 0, in_driver = 0;
  // A device that can't measure returns UINT64_MAX.
  if (library_.ANeuralNetworksExecution_getDuration(execution, kOnHardware, &on_device) == 0 &&
      on_device != UINT64_MAX) {
    times->on_device = on_device;
  }
  if (library_.ANeuralNetworksExecution_getDuration(execution, kInDriver, &in_driver) == 0 && in_driver != UINT64_MAX) {
    times->in_driver = in_driver;
  }
}

// Puts the execution and the burst back for later runs. Drops them after a failure: their driver may have died.
void ExecutionPool::give_back(Bound* bound, ANeuralNetworksBurst* burst, bool works, bool is_reusable) {
  ANeuralNetworksExecution* unwanted = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (burst && works) {
      idle_bursts_.push_back(burst);
      burst = nullptr;
    } else if (burst) {
      --burst_count_;
    }
    if (bound && is_reusable && works) {
      if (idle_.size() >= kMostIdle) {
        unwanted = idle_.front().execution;
        idle_.erase(idle_.begin());
      }
      idle_.push_back(std::move(*bound));
    } else if (bound) {
      unwanted = bound->execution;
    }
  }
  drop(unwanted, burst);
}

void ExecutionPool::drop(ANeuralNetworksExecution* execution, ANeuralNetworksBurst* burst) {
  if (execution) library_.ANeuralNetworksExecution_free(execution);
  if (burst) library_.ANeuralNetworksBurst_free(burst);
}

int ExecutionPool::fail_call(const char* function, int code, nnapi_shim_error* error) {
  const char* where = devices_text(devices_);
  if (is_deadline(code)) {
    return fail_with(error, NNAPI_SHIM_TIMED_OUT, code,
                     "the execution on %s took longer than the options allow (execute_timeout_ns %llu, loop_timeout_ns "
                     "%llu): %s answers %s",
                     where, static_cast<unsigned long long>(options_.execute_timeout_ns),
                     static_cast<unsigned long long>(options_.loop_timeout_ns), function, result_name(code));
  }
  return fail_with(error, NNAPI_SHIM_FAILED, code, "the execution on %s failed: %s answers %s", where, function,
                   result_name(code));
}

}  // namespace nnapi_shim
