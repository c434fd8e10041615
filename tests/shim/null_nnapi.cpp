// SPDX-License-Identifier: BSD-3-Clause
// An NNAPI that answers every call at once and does nothing: what is measured with it is its caller. With
// NULL_NNAPI_COMPILE_MS in the environment, compiling sleeps so long, unless the cache has what an earlier process
// compiled.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "lib/host_runtime/neural_networks.h"

namespace {
int object;
std::string cache_file;  // of the compilation that goes on; there is one at a time
constexpr int kTokenBytes = 32;
std::vector<std::vector<uint32_t>> operands, outputs;  // sizes, of the newest model

void compile() {
  const char* milliseconds = std::getenv("NULL_NNAPI_COMPILE_MS");
  if (!milliseconds) return;
  if (!cache_file.empty() && access(cache_file.c_str(), F_OK) == 0) return;
  usleep(static_cast<useconds_t>(std::atoi(milliseconds)) * 1000);
  if (cache_file.empty()) return;
  if (FILE* file = std::fopen(cache_file.c_str(), "w")) std::fclose(file);
}

template <typename Object>
int give(Object** to) {
  *to = reinterpret_cast<Object*>(&object);
  return 0;
}
}  // namespace

extern "C" {
int64_t ANeuralNetworks_getRuntimeFeatureLevel() {
  return 1000008;
}
int ANeuralNetworks_getDeviceCount(uint32_t* count) {
  return *count = 1, 0;
}
int ANeuralNetworks_getDevice(uint32_t, ANeuralNetworksDevice** device) {
  return give(device);
}
int ANeuralNetworksDevice_getName(const ANeuralNetworksDevice*, const char** name) {
  return *name = "null", 0;
}
int ANeuralNetworksDevice_getVersion(const ANeuralNetworksDevice*, const char** version) {
  return *version = "0", 0;
}
int ANeuralNetworksDevice_getType(const ANeuralNetworksDevice*, int32_t* type) {
  return *type = 4, 0;
}
int ANeuralNetworksDevice_getFeatureLevel(const ANeuralNetworksDevice*, int64_t* level) {
  return *level = 1000008, 0;
}
int ANeuralNetworksMemory_createFromFd(size_t, int, int, size_t, ANeuralNetworksMemory** memory) {
  return give(memory);
}
void ANeuralNetworksMemory_free(ANeuralNetworksMemory*) {}
int ANeuralNetworksModel_create(ANeuralNetworksModel** model) {
  operands.clear();
  return give(model);
}
void ANeuralNetworksModel_free(ANeuralNetworksModel*) {}
int ANeuralNetworksModel_addOperand(ANeuralNetworksModel*, const ANeuralNetworksOperandType* type) {
  operands.emplace_back(type->dimensions, type->dimensions + type->dimensionCount);
  return 0;
}
int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel*, int32_t, const void*, size_t) {
  return 0;
}
int ANeuralNetworksModel_setOperandValueFromMemory(ANeuralNetworksModel*, int32_t, const ANeuralNetworksMemory*, size_t,
                                                   size_t) {
  return 0;
}
int ANeuralNetworksModel_setOperandValueFromModel(ANeuralNetworksModel*, int32_t, const ANeuralNetworksModel*) {
  return 0;
}
int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(ANeuralNetworksModel*, int32_t,
                                                             const ANeuralNetworksSymmPerChannelQuantParams*) {
  return 0;
}
int ANeuralNetworksModel_addOperation(ANeuralNetworksModel*, int32_t, uint32_t, const uint32_t*, uint32_t,
                                      const uint32_t*) {
  return 0;
}
int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel*, uint32_t, const uint32_t*, uint32_t count,
                                                  const uint32_t* numbers) {
  outputs.clear();
  for (uint32_t i = 0; i < count; ++i) outputs.push_back(operands[numbers[i]]);
  return 0;
}
int ANeuralNetworksModel_relaxComputationFloat32toFloat16(ANeuralNetworksModel*, bool) {
  return 0;
}
int ANeuralNetworksModel_finish(ANeuralNetworksModel*) {
  return 0;
}
int ANeuralNetworksCompilation_create(ANeuralNetworksModel*, ANeuralNetworksCompilation** made) {
  return give(made);
}
void ANeuralNetworksCompilation_free(ANeuralNetworksCompilation*) {}
int ANeuralNetworksCompilation_setPreference(ANeuralNetworksCompilation*, int32_t) {
  return 0;
}
int ANeuralNetworksCompilation_setCaching(ANeuralNetworksCompilation*, const char* folder, const uint8_t* token) {
  cache_file = std::string(folder) + "/null_nnapi_";
  for (int i = 0; i < kTokenBytes; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", token[i]);
    cache_file += digits;
  }
  return 0;
}
int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation*) {
  return compile(), 0;
}
int ANeuralNetworksExecution_create(ANeuralNetworksCompilation*, ANeuralNetworksExecution** made) {
  return give(made);
}
void ANeuralNetworksExecution_free(ANeuralNetworksExecution*) {}
int ANeuralNetworksExecution_setInput(ANeuralNetworksExecution*, int32_t, const ANeuralNetworksOperandType*,
                                      const void*, size_t) {
  return 0;
}
int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution*, int32_t, const ANeuralNetworksOperandType*, void*,
                                       size_t) {
  return 0;
}
int ANeuralNetworksExecution_setReusable(ANeuralNetworksExecution*, bool) {
  return 0;
}
int ANeuralNetworksExecution_compute(ANeuralNetworksExecution*) {
  return 0;
}
int ANeuralNetworksExecution_startCompute(ANeuralNetworksExecution*, ANeuralNetworksEvent** event) {
  return give(event);
}
int ANeuralNetworksEvent_wait(ANeuralNetworksEvent*) {
  return 0;
}
void ANeuralNetworksEvent_free(ANeuralNetworksEvent*) {}
int ANeuralNetworksBurst_create(ANeuralNetworksCompilation*, ANeuralNetworksBurst** burst) {
  return give(burst);
}
void ANeuralNetworksBurst_free(ANeuralNetworksBurst*) {}
int ANeuralNetworksExecution_burstCompute(ANeuralNetworksExecution*, ANeuralNetworksBurst*) {
  return 0;
}
// The stock loader of PyTorch asks for these after each computation.
int ANeuralNetworksExecution_getOutputOperandRank(ANeuralNetworksExecution*, int32_t number, uint32_t* rank) {
  *rank = static_cast<uint32_t>(outputs[static_cast<size_t>(number)].size());
  return 0;
}
int ANeuralNetworksExecution_getOutputOperandDimensions(ANeuralNetworksExecution*, int32_t number, uint32_t* sizes) {
  const std::vector<uint32_t>& found = outputs[static_cast<size_t>(number)];
  std::copy(found.begin(), found.end(), sizes);
  return 0;
}
}  // extern "C"
