// An NNAPI that answers every call at once and does nothing: what is measured with it is its caller.
#include <cstdint>

#include "lib/host_runtime/neural_networks.h"

namespace {
int object;
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
  return give(model);
}
void ANeuralNetworksModel_free(ANeuralNetworksModel*) {}
int ANeuralNetworksModel_addOperand(ANeuralNetworksModel*, const ANeuralNetworksOperandType*) {
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
int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel*, uint32_t, const uint32_t*, uint32_t,
                                                  const uint32_t*) {
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
int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation*) {
  return 0;
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
int ANeuralNetworksExecution_getOutputOperandRank(ANeuralNetworksExecution*, int32_t, uint32_t* rank) {
  return *rank = 1, 0;
}
int ANeuralNetworksExecution_getOutputOperandDimensions(ANeuralNetworksExecution*, int32_t, uint32_t* dimensions) {
  return *dimensions = 1, 0;
}
}  // extern "C"
