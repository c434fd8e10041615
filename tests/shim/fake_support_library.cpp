// SPDX-License-Identifier: BSD-3-Clause
// The fake as a support library: nothing but a function table, whose order is that of the names.
#include <map>

#include "tests/shim/fake_nnapi_state.h"

using namespace fake_nnapi;

extern "C" {

struct SupportLibraryTable {
  int64_t level;
  void* functions[71];
};

// Builds the function table. AOSP's header has the functions, in the order of their names.
__attribute__((visibility("default"))) SupportLibraryTable* ANeuralNetworks_getSLDriverImpl() {
  static SupportLibraryTable table;
  std::map<std::string, void*> sorted;
#define NNAPI_HOST_FUNCTION(level, name) sorted[#name] = nullptr;
#include "lib/host_runtime/functions.inc"
#undef NNAPI_HOST_FUNCTION
  sorted.erase("ANeuralNetworksCompilation_create");
  sorted.erase("ANeuralNetworksExecution_startCompute");
#define HAVE(name) sorted[#name] = reinterpret_cast<void*>(name);
  HAVE(ANeuralNetworksBurst_create)
  HAVE(ANeuralNetworksBurst_free)
  HAVE(ANeuralNetworksCompilation_createForDevices)
  HAVE(ANeuralNetworksCompilation_finish)
  HAVE(ANeuralNetworksCompilation_free)
  HAVE(ANeuralNetworksCompilation_setCaching)
  HAVE(ANeuralNetworksCompilation_setPreference)
  HAVE(ANeuralNetworksCompilation_setPriority)
  HAVE(ANeuralNetworksCompilation_setTimeout)
  HAVE(ANeuralNetworksDevice_getFeatureLevel)
  HAVE(ANeuralNetworksDevice_getName)
  HAVE(ANeuralNetworksDevice_getType)
  HAVE(ANeuralNetworksDevice_getVersion)
  HAVE(ANeuralNetworksEvent_free)
  HAVE(ANeuralNetworksEvent_wait)
  HAVE(ANeuralNetworksExecution_burstCompute)
  HAVE(ANeuralNetworksExecution_compute)
  HAVE(ANeuralNetworksExecution_create)
  HAVE(ANeuralNetworksExecution_free)
  HAVE(ANeuralNetworksExecution_getDuration)
  HAVE(ANeuralNetworksExecution_setInput)
  HAVE(ANeuralNetworksExecution_setInputFromMemory)
  HAVE(ANeuralNetworksExecution_setLoopTimeout)
  HAVE(ANeuralNetworksExecution_setMeasureTiming)
  HAVE(ANeuralNetworksExecution_setOutput)
  HAVE(ANeuralNetworksExecution_setOutputFromMemory)
  HAVE(ANeuralNetworksExecution_setReusable)
  HAVE(ANeuralNetworksExecution_setTimeout)
  HAVE(ANeuralNetworksMemory_createFromAHardwareBuffer)
  HAVE(ANeuralNetworksMemory_createFromFd)
  HAVE(ANeuralNetworksMemory_free)
  HAVE(ANeuralNetworksModel_addOperand)
  HAVE(ANeuralNetworksModel_addOperation)
  HAVE(ANeuralNetworksModel_create)
  HAVE(ANeuralNetworksModel_finish)
  HAVE(ANeuralNetworksModel_free)
  HAVE(ANeuralNetworksModel_getSupportedOperationsForDevices)
  HAVE(ANeuralNetworksModel_identifyInputsAndOutputs)
  HAVE(ANeuralNetworksModel_relaxComputationFloat32toFloat16)
  HAVE(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams)
  HAVE(ANeuralNetworksModel_setOperandValue)
  HAVE(ANeuralNetworksModel_setOperandValueFromMemory)
  HAVE(ANeuralNetworksModel_setOperandValueFromModel)
  HAVE(ANeuralNetworks_getDevice)
  HAVE(ANeuralNetworks_getDeviceCount)
  HAVE(ANeuralNetworks_getRuntimeFeatureLevel)
  const std::lock_guard<std::mutex> lock(mutex);
  // 0 stands for a library that has no drivers for this device.
  if (settings.level_code == 0) return nullptr;
  table.level = settings.level_code;
  size_t i = 0;
  for (const auto& [name, function] : sorted) table.functions[i++] = function;
  if (i != 71) violate("the table has 71 functions");
  return &table;
}

}  // extern "C"
