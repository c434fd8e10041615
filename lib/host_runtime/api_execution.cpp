// SPDX-License-Identifier: BSD-3-Clause
// The C interface: executions and bursts.
#include "lib/host_runtime/api.h"

using namespace nnapi_convert::host;

namespace {

// Reads the dimensions that an output needs, also if it did not fit.
template <typename Read>
int read_output(const char* function, ANeuralNetworksExecution* execution, int32_t index, const Read& read) {
  return guarded(function, [&] {
    require(execution, "output dimensions: execution");
    read(execution->execution->output_dims(index));
    if (execution->execution->output_fits(index)) return;
    fail(nnapi_convert::ResultCode::OUTPUT_INSUFFICIENT_SIZE, "output {}: its buffer was too small", index);
  });
}

}  // namespace

int ANeuralNetworksExecution_create(ANeuralNetworksCompilation* compilation, ANeuralNetworksExecution** execution) {
  return guarded(__func__, [&] {
    require_result(execution, "execution");
    require(compilation, "execution: compilation");
    *execution = new ANeuralNetworksExecution{std::make_shared<Execution>(compilation->compilation)};
  });
}

void ANeuralNetworksExecution_free(ANeuralNetworksExecution* execution) {
  if (!execution) return;
  guarded(__func__, [&] {
    if (!execution->execution->wait_until_idle()) return;
    fail(nnapi_convert::ResultCode::BAD_STATE, "Execution_free: it was computing, and its end had to be waited for");
  });
  delete execution;
}

int ANeuralNetworksExecution_setInput(ANeuralNetworksExecution* execution, int32_t index,
                                      const ANeuralNetworksOperandType* type, const void* buffer, size_t length) {
  return guarded(__func__, [&] {
    require(execution, "setInput: execution");
    execution->execution->set_buffer(Direction::kInput, index, type, const_cast<void*>(buffer), length);
  });
}

int ANeuralNetworksExecution_setInputFromMemory(ANeuralNetworksExecution* execution, int32_t index,
                                                const ANeuralNetworksOperandType* type,
                                                const ANeuralNetworksMemory* memory, size_t offset, size_t length) {
  return guarded(__func__, [&] {
    require(execution, "setInputFromMemory: execution");
    require(memory, "setInputFromMemory: memory");
    execution->execution->set_memory(Direction::kInput, index, type, memory->memory, offset, length);
  });
}

int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution* execution, int32_t index,
                                       const ANeuralNetworksOperandType* type, void* buffer, size_t length) {
  return guarded(__func__, [&] {
    require(execution, "setOutput: execution");
    execution->execution->set_buffer(Direction::kOutput, index, type, buffer, length);
  });
}

int ANeuralNetworksExecution_setOutputFromMemory(ANeuralNetworksExecution* execution, int32_t index,
                                                 const ANeuralNetworksOperandType* type,
                                                 const ANeuralNetworksMemory* memory, size_t offset, size_t length) {
  return guarded(__func__, [&] {
    require(execution, "setOutputFromMemory: execution");
    require(memory, "setOutputFromMemory: memory");
    execution->execution->set_memory(Direction::kOutput, index, type, memory->memory, offset, length);
  });
}

int ANeuralNetworksExecution_setLoopTimeout(ANeuralNetworksExecution* execution, uint64_t duration) {
  return guarded(__func__, [&] {
    require(execution, "setLoopTimeout: execution");
    execution->execution->set_loop_timeout(duration);
  });
}

uint64_t ANeuralNetworks_getDefaultLoopTimeout() {
  return static_cast<uint64_t>(kDefaultLoopTimeout.count());
}

uint64_t ANeuralNetworks_getMaximumLoopTimeout() {
  return static_cast<uint64_t>(kMaximumLoopTimeout.count());
}

int ANeuralNetworksExecution_setTimeout(ANeuralNetworksExecution* execution, uint64_t duration) {
  return guarded(__func__, [&] {
    require(execution, "setTimeout: execution");
    execution->execution->set_timeout(duration);
  });
}

int ANeuralNetworksExecution_setMeasureTiming(ANeuralNetworksExecution* execution, bool measure) {
  return guarded(__func__, [&] {
    require(execution, "setMeasureTiming: execution");
    execution->execution->set_measure_timing(measure);
  });
}

int ANeuralNetworksExecution_getDuration(const ANeuralNetworksExecution* execution, int32_t durationCode,
                                         uint64_t* duration) {
  return guarded(__func__, [&] {
    require(duration, "getDuration");
    *duration = UINT64_MAX;
    require(execution, "getDuration: execution");
    *duration = execution->execution->duration(durationCode);
  });
}

int ANeuralNetworksExecution_setReusable(ANeuralNetworksExecution* execution, bool reusable) {
  return guarded(__func__, [&] {
    require(execution, "setReusable: execution");
    execution->execution->set_reusable(reusable);
  });
}

int ANeuralNetworksExecution_enableInputAndOutputPadding(ANeuralNetworksExecution* execution, bool enable) {
  return guarded(__func__, [&] {
    require(execution, "enableInputAndOutputPadding: execution");
    execution->execution->enable_padding(enable);
  });
}

int ANeuralNetworksExecution_compute(ANeuralNetworksExecution* execution) {
  return guarded(__func__, [&] {
    require(execution, "compute: execution");
    execution->execution->compute();
  });
}

int ANeuralNetworksExecution_burstCompute(ANeuralNetworksExecution* execution, ANeuralNetworksBurst* burst) {
  return guarded(__func__, [&] {
    require(execution, "burstCompute: execution");
    require(burst, "burstCompute: burst");
    execution->execution->compute(burst->burst);
  });
}

int ANeuralNetworksBurst_create(ANeuralNetworksCompilation* compilation, ANeuralNetworksBurst** burst) {
  return guarded(__func__, [&] {
    require_result(burst, "burst");
    require(compilation, "burst: compilation");
    *burst = new ANeuralNetworksBurst{Burst(compilation->compilation)};
  });
}

void ANeuralNetworksBurst_free(ANeuralNetworksBurst* burst) {
  delete burst;
}

int ANeuralNetworksExecution_getOutputOperandRank(ANeuralNetworksExecution* execution, int32_t index, uint32_t* rank) {
  return read_output(__func__, execution, index, [&](const Dims& dims) {
    require(rank, "getOutputOperandRank");
    *rank = static_cast<uint32_t>(dims.size());
  });
}

int ANeuralNetworksExecution_getOutputOperandDimensions(ANeuralNetworksExecution* execution, int32_t index,
                                                        uint32_t* dimensions) {
  return read_output(__func__, execution, index, [&](const Dims& dims) {
    require(dimensions, "getOutputOperandDimensions");
    if (dims.empty()) bad_data("output {}: a scalar has no dimensions", index);
    for (std::size_t i = 0; i < dims.size(); ++i) dimensions[i] = static_cast<uint32_t>(dims[i]);
  });
}
