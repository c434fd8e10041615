// SPDX-License-Identifier: BSD-3-Clause
// The fake's compilations, executions, bursts and events.
#include <algorithm>

#include "tests/shim/fake_nnapi_state.h"

using namespace fake_nnapi;

namespace {

bool is_computing_allowed(ANeuralNetworksExecution* execution, const char* function) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (execution->busy) violate(std::string(function) + ": the execution computes already");
  if (execution->computed && !execution->reusable) violate(std::string(function) + ": the execution has computed");
  const bool allowed = !execution->busy && (!execution->computed || execution->reusable);
  execution->busy = true;
  records.most_at_once = std::max(records.most_at_once, ++records.at_once);
  return allowed;
}

int compute(ANeuralNetworksExecution* execution, const char* function) {
  uint32_t time = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    const std::vector<int>& operations = execution->compilation->model->operations;
    const bool is_slow =
        settings.slow_operation < 0 || std::count(operations.begin(), operations.end(), settings.slow_operation) > 0;
    time = is_slow ? settings.compute_sleep_ms : 0;
  }
  const bool allowed = is_computing_allowed(execution, function);
  sleep_ms(time);
  const auto& inputs = execution->inputs;
  for (size_t j = 0; allowed && j < execution->outputs.size(); ++j) {
    const auto& [to, length] = execution->outputs[j];
    check(to != nullptr && !inputs.empty(), function, "an output or input is missing");
    if (!to || inputs.empty()) continue;
    const auto& [from, from_length] = inputs[j % inputs.size()];
    check(from != nullptr && from_length > 0, function, "an input is missing");
    for (size_t k = 0; from && k < length; ++k) to[k] = static_cast<uint8_t>(from[k % from_length] + 1);
  }
  const std::lock_guard<std::mutex> lock(mutex);
  execution->busy = false;
  execution->computed = true;
  --records.at_once;
  return allowed ? kNoError : kBadState;
}

int new_compilation(ANeuralNetworksModel* model, bool for_one_device, ANeuralNetworksCompilation** compilation) {
  check(model->finished, "Compilation_create", "the model is not finished");
  {
    const std::lock_guard<std::mutex> lock(mutex);
    ++model->users;
  }
  *compilation = made(new ANeuralNetworksCompilation{model});
  (*compilation)->for_one_device = for_one_device;
  return kNoError;
}

}  // namespace

int ANeuralNetworksCompilation_create(ANeuralNetworksModel* model, ANeuralNetworksCompilation** compilation) {
  ENTER();
  RECORD(records.compiled_for.clear());
  return new_compilation(model, false, compilation);
}

int ANeuralNetworksCompilation_createForDevices(ANeuralNetworksModel* model, const ANeuralNetworksDevice* const* chosen,
                                                uint32_t deviceCount, ANeuralNetworksCompilation** compilation) {
  ENTER();
  check(deviceCount > 0, __func__, "no devices");
  RECORD(records.compiled_for.clear();
         for (uint32_t i = 0; i < deviceCount; ++i) records.compiled_for.push_back(chosen[i]->setting.name));
  return new_compilation(model, deviceCount == 1, compilation);
}

void ANeuralNetworksCompilation_free(ANeuralNetworksCompilation* compilation) {
  int users = 0;
  RECORD(users = compilation && live_objects.count(compilation) > 0 ? compilation->users.load() : 0);
  check(users == 0, __func__, "executions or bursts are alive");
  free_object(__func__, compilation);
}

int ANeuralNetworksCompilation_setPreference(ANeuralNetworksCompilation*, int32_t preference) {
  ENTER();
  RECORD(records.preference = preference);
  return kNoError;
}

int ANeuralNetworksCompilation_setPriority(ANeuralNetworksCompilation*, int priority) {
  ENTER();
  RECORD(records.priority = priority);
  return kNoError;
}

int ANeuralNetworksCompilation_setTimeout(ANeuralNetworksCompilation* compilation, uint64_t duration) {
  ENTER();
  check(compilation->for_one_device, __func__, "not one device");
  RECORD(records.compile_timeout = duration);
  return kNoError;
}

int ANeuralNetworksCompilation_setCaching(ANeuralNetworksCompilation*, const char* cacheDir, const uint8_t* token) {
  ENTER();
  RECORD(records.cache_directory = cacheDir; records.token.assign(token, token + 32));
  return kNoError;
}

int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation* compilation) {
  ENTER();
  uint32_t time = 0;
  RECORD(time = settings.compile_sleep_ms);
  sleep_ms(time);
  compilation->finished = true;
  return kNoError;
}

int ANeuralNetworksExecution_create(ANeuralNetworksCompilation* compilation, ANeuralNetworksExecution** execution) {
  ENTER();
  check(compilation->finished, __func__, "the compilation is not finished");
  auto* created = new ANeuralNetworksExecution{compilation};
  created->inputs.resize(compilation->model->inputs.size());
  created->outputs.resize(compilation->model->outputs.size());
  RECORD(++compilation->users);
  *execution = made(created);
  return kNoError;
}

void ANeuralNetworksExecution_free(ANeuralNetworksExecution* execution) {
  check(!execution || !execution->busy, __func__, "the execution computes");
  free_object(__func__, execution);
}

int ANeuralNetworksExecution_setInput(ANeuralNetworksExecution* execution, int32_t index,
                                      const ANeuralNetworksOperandType*, const void* buffer, size_t length) {
  ENTER();
  check(!execution->computed, __func__, "the execution has computed");
  const ANeuralNetworksModel& model = *execution->compilation->model;
  check(length == model.operand_bytes.at(model.inputs.at(static_cast<size_t>(index))), __func__, "wrong length");
  execution->inputs.at(static_cast<size_t>(index)) = {static_cast<const uint8_t*>(buffer), length};
  return kNoError;
}

int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution* execution, int32_t index,
                                       const ANeuralNetworksOperandType*, void* buffer, size_t length) {
  ENTER();
  check(!execution->computed, __func__, "the execution has computed");
  const ANeuralNetworksModel& model = *execution->compilation->model;
  check(length == model.operand_bytes.at(model.outputs.at(static_cast<size_t>(index))), __func__, "wrong length");
  execution->outputs.at(static_cast<size_t>(index)) = {static_cast<uint8_t*>(buffer), length};
  return kNoError;
}

int ANeuralNetworksExecution_setInputFromMemory(ANeuralNetworksExecution* execution, int32_t index,
                                                const ANeuralNetworksOperandType* type,
                                                const ANeuralNetworksMemory* memory, size_t offset, size_t length) {
  check(offset + length <= memory->size, __func__, "beyond the memory");
  RECORD(++records.shared_tensors);
  return ANeuralNetworksExecution_setInput(execution, index, type, memory->data + offset, length);
}

int ANeuralNetworksExecution_setOutputFromMemory(ANeuralNetworksExecution* execution, int32_t index,
                                                 const ANeuralNetworksOperandType* type,
                                                 const ANeuralNetworksMemory* memory, size_t offset, size_t length) {
  check(offset + length <= memory->size, __func__, "beyond the memory");
  RECORD(++records.shared_tensors);
  return ANeuralNetworksExecution_setOutput(execution, index, type, memory->data + offset, length);
}

int ANeuralNetworksExecution_setReusable(ANeuralNetworksExecution* execution, bool reusable) {
  ENTER();
  execution->reusable = reusable;
  return kNoError;
}

int ANeuralNetworksExecution_setLoopTimeout(ANeuralNetworksExecution*, uint64_t duration) {
  ENTER();
  RECORD(records.loop_timeout = duration);
  return kNoError;
}

int ANeuralNetworksExecution_setTimeout(ANeuralNetworksExecution* execution, uint64_t duration) {
  ENTER();
  check(execution->compilation->for_one_device, __func__, "not one device");
  RECORD(records.execute_timeout = duration);
  return kNoError;
}

int ANeuralNetworksExecution_setMeasureTiming(ANeuralNetworksExecution* execution, bool measure) {
  ENTER();
  check(execution->compilation->for_one_device, __func__, "not one device");
  RECORD(records.measured = measure);
  execution->measured = measure;
  return kNoError;
}

int ANeuralNetworksExecution_getDuration(const ANeuralNetworksExecution* execution, int32_t durationCode,
                                         uint64_t* duration) {
  ENTER();
  check(execution->measured && execution->computed, __func__, "nothing was measured");
  *duration = durationCode == 0 ? 1234 : UINT64_MAX;  // in the driver: not known
  return kNoError;
}

int ANeuralNetworksExecution_compute(ANeuralNetworksExecution* execution) {
  ENTER();
  return compute(execution, __func__);
}

int ANeuralNetworksExecution_startCompute(ANeuralNetworksExecution* execution, ANeuralNetworksEvent** event) {
  ENTER();
  *event = made(new ANeuralNetworksEvent{compute(execution, __func__)});
  return kNoError;
}

int ANeuralNetworksEvent_wait(ANeuralNetworksEvent* event) {
  ENTER();
  return event->code;
}
void ANeuralNetworksEvent_free(ANeuralNetworksEvent* event) {
  free_object(__func__, event);
}

int ANeuralNetworksBurst_create(ANeuralNetworksCompilation* compilation, ANeuralNetworksBurst** burst) {
  ENTER();
  RECORD(++compilation->users);
  *burst = made(new ANeuralNetworksBurst{compilation});
  return kNoError;
}

void ANeuralNetworksBurst_free(ANeuralNetworksBurst* burst) {
  check(!burst || !burst->busy, __func__, "the burst computes");
  free_object(__func__, burst);
}

int ANeuralNetworksExecution_burstCompute(ANeuralNetworksExecution* execution, ANeuralNetworksBurst* burst) {
  ENTER();
  check(burst->compilation == execution->compilation, __func__, "a burst of another compilation");
  RECORD(if (burst->busy) violate("burstCompute: the burst computes already"); burst->busy = true);
  const int code = compute(execution, __func__);
  RECORD(burst->busy = false);
  return code;
}
