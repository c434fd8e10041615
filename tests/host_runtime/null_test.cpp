// SPDX-License-Identifier: BSD-3-Clause
// Null where a function needs something: UNEXPECTED_NULL and one sentence, for each argument of each function.
#include <functional>

#include "tests/host_runtime/simple_models.h"

using namespace simple_models;

namespace {

using Calls = std::vector<std::function<int()>>;

void all_refuse(const Calls& calls) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    INFO("call " << i);
    refuses(kNull, "null found", calls[i]);
  }
}

}  // namespace

TEST_CASE("null: devices", "[null]") {
  const ANeuralNetworksDevice* host = device();
  const char* text = nullptr;
  int64_t level = 0;
  int32_t type = 0;
  bool flag = false;
  all_refuse({
      [] { return ANeuralNetworks_getDeviceCount(nullptr); },
      [] { return ANeuralNetworks_getDevice(0, nullptr); },
      [&] { return ANeuralNetworksDevice_getName(nullptr, &text); },
      [&] { return ANeuralNetworksDevice_getName(host, nullptr); },
      [&] { return ANeuralNetworksDevice_getVersion(nullptr, &text); },
      [&] { return ANeuralNetworksDevice_getVersion(host, nullptr); },
      [&] { return ANeuralNetworksDevice_getFeatureLevel(nullptr, &level); },
      [&] { return ANeuralNetworksDevice_getFeatureLevel(host, nullptr); },
      [&] { return ANeuralNetworksDevice_getType(nullptr, &type); },
      [&] { return ANeuralNetworksDevice_getType(host, nullptr); },
      [&] { return ANeuralNetworksDevice_getExtensionSupport(nullptr, "a", &flag); },
      [&] { return ANeuralNetworksDevice_getExtensionSupport(host, nullptr, &flag); },
      [&] { return ANeuralNetworksDevice_getExtensionSupport(host, "a", nullptr); },
      [&] { return ANeuralNetworksDevice_wait(nullptr); },
  });
}

TEST_CASE("null: models", "[null]") {
  const Model model = new_model();
  const ANeuralNetworksDevice* host = device();
  const uint32_t index = 0;
  int32_t type = 0;
  bool flag = false;
  const ANeuralNetworksOperandType operand = {0, 0, nullptr, 0, 0};
  const ANeuralNetworksSymmPerChannelQuantParams params = {0, 0, nullptr};
  ANeuralNetworksModel* m = model.get();
  all_refuse({
      [] { return ANeuralNetworksModel_create(nullptr); },
      [&] { return ANeuralNetworksModel_addOperand(nullptr, &operand); },
      [&] { return ANeuralNetworksModel_addOperand(m, nullptr); },
      [&] { return ANeuralNetworksModel_setOperandValue(nullptr, 0, nullptr, 0); },
      [&] { return ANeuralNetworksModel_setOperandValueFromMemory(nullptr, 0, nullptr, 0, 0); },
      [&] { return ANeuralNetworksModel_setOperandValueFromMemory(m, 0, nullptr, 0, 0); },
      [&] { return ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(nullptr, 0, &params); },
      [&] { return ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 0, nullptr); },
      [&] { return ANeuralNetworksModel_addOperation(nullptr, 0, 1, &index, 1, &index); },
      [&] { return ANeuralNetworksModel_addOperation(m, 0, 1, nullptr, 1, &index); },
      [&] { return ANeuralNetworksModel_addOperation(m, 0, 1, &index, 1, nullptr); },
      [&] { return ANeuralNetworksModel_identifyInputsAndOutputs(nullptr, 1, &index, 1, &index); },
      [&] { return ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, nullptr, 1, &index); },
      [&] { return ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, &index, 1, nullptr); },
      [&] { return ANeuralNetworksModel_relaxComputationFloat32toFloat16(nullptr, true); },
      [&] { return ANeuralNetworksModel_finish(nullptr); },
      [&] { return ANeuralNetworksModel_getSupportedOperationsForDevices(nullptr, &host, 1, &flag); },
      [&] { return ANeuralNetworksModel_getSupportedOperationsForDevices(m, nullptr, 1, &flag); },
      [&] { return ANeuralNetworksModel_getSupportedOperationsForDevices(m, &host, 1, nullptr); },
      [&] { return ANeuralNetworksModel_getExtensionOperandType(nullptr, "a", 0, &type); },
      [&] { return ANeuralNetworksModel_getExtensionOperandType(m, nullptr, 0, &type); },
      [&] { return ANeuralNetworksModel_getExtensionOperandType(m, "a", 0, nullptr); },
      [&] { return ANeuralNetworksModel_getExtensionOperationType(nullptr, "a", 0, &type); },
      [&] { return ANeuralNetworksModel_getExtensionOperationType(m, nullptr, 0, &type); },
      [&] { return ANeuralNetworksModel_getExtensionOperationType(m, "a", 0, nullptr); },
      [&] { return ANeuralNetworksModel_setOperandExtensionData(nullptr, 0, &flag, 1); },
      [&] { return ANeuralNetworksModel_setOperandExtensionData(m, 0, nullptr, 1); },
  });
}

TEST_CASE("null: memories", "[null]") {
  const Compiled compiled(plus_one({2}));
  const ANeuralNetworksCompilation* c = compiled.compilation.get();
  ANeuralNetworksMemoryDesc* descriptor = nullptr;
  REQUIRE(ANeuralNetworksMemoryDesc_create(&descriptor) == 0);
  ANeuralNetworksMemory* memory = nullptr;
  all_refuse({
      [] { return ANeuralNetworksMemory_createFromFd(1, 1, 1, 0, nullptr); },
      [&] { return ANeuralNetworksMemory_createFromDesc(nullptr, &memory); },
      [&] { return ANeuralNetworksMemory_createFromDesc(descriptor, nullptr); },
      [&] { return ANeuralNetworksMemory_copy(nullptr, nullptr); },
      [] { return ANeuralNetworksMemoryDesc_create(nullptr); },
      [&] { return ANeuralNetworksMemoryDesc_addInputRole(nullptr, c, 0, 1); },
      [&] { return ANeuralNetworksMemoryDesc_addInputRole(descriptor, nullptr, 0, 1); },
      [&] { return ANeuralNetworksMemoryDesc_addOutputRole(nullptr, c, 0, 1); },
      [&] { return ANeuralNetworksMemoryDesc_addOutputRole(descriptor, nullptr, 0, 1); },
      [&] { return ANeuralNetworksMemoryDesc_setDimensions(nullptr, 0, nullptr); },
      [&] { return ANeuralNetworksMemoryDesc_setDimensions(descriptor, 1, nullptr); },
      [&] { return ANeuralNetworksMemoryDesc_finish(nullptr); },
  });
  ANeuralNetworksMemoryDesc_free(descriptor);
}

TEST_CASE("null: compilations", "[null]") {
  const Compiled compiled(plus_one({2}));
  ANeuralNetworksCompilation *c = compiled.compilation.get(), *made = nullptr;
  const ANeuralNetworksDevice* host = device();
  const uint8_t token[32] = {};
  uint32_t bytes = 0;
  all_refuse({
      [&] { return ANeuralNetworksCompilation_create(nullptr, &made); },
      [&] { return ANeuralNetworksCompilation_create(compiled.model.get(), nullptr); },
      [&] { return ANeuralNetworksCompilation_createForDevices(nullptr, &host, 1, &made); },
      [&] { return ANeuralNetworksCompilation_createForDevices(compiled.model.get(), nullptr, 1, &made); },
      [&] { return ANeuralNetworksCompilation_createForDevices(compiled.model.get(), &host, 1, nullptr); },
      [&] { return ANeuralNetworksCompilation_setPreference(nullptr, 0); },
      [&] { return ANeuralNetworksCompilation_setPriority(nullptr, 90); },
      [&] { return ANeuralNetworksCompilation_setTimeout(nullptr, 0); },
      [&] { return ANeuralNetworksCompilation_setCaching(nullptr, "a", token); },
      [&] { return ANeuralNetworksCompilation_setCaching(c, nullptr, token); },
      [&] { return ANeuralNetworksCompilation_setCaching(c, "a", nullptr); },
      [&] { return ANeuralNetworksCompilation_finish(nullptr); },
      [&] { return ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(nullptr, 0, &bytes); },
      [&] { return ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(c, 0, nullptr); },
      [&] { return ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput(nullptr, 0, &bytes); },
      [&] { return ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput(c, 0, nullptr); },
      [&] { return ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(nullptr, 0, &bytes); },
      [&] { return ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(c, 0, nullptr); },
      [&] { return ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(nullptr, 0, &bytes); },
      [&] { return ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(c, 0, nullptr); },
  });
}

TEST_CASE("null: executions", "[null]") {
  const Compiled compiled(plus_one({2}));
  const Execution execution = new_execution(compiled);
  ANeuralNetworksExecution *e = execution.get(), *made = nullptr;
  ANeuralNetworksBurst* burst = nullptr;
  uint64_t duration = 0;
  uint32_t number = 0;
  float value = 0;
  all_refuse({
      [&] { return ANeuralNetworksExecution_create(nullptr, &made); },
      [&] { return ANeuralNetworksExecution_create(compiled.compilation.get(), nullptr); },
      [&] { return ANeuralNetworksExecution_setInput(nullptr, 0, nullptr, &value, 4); },
      [&] { return ANeuralNetworksExecution_setInputFromMemory(nullptr, 0, nullptr, nullptr, 0, 4); },
      [&] { return ANeuralNetworksExecution_setInputFromMemory(e, 0, nullptr, nullptr, 0, 4); },
      [&] { return ANeuralNetworksExecution_setOutput(nullptr, 0, nullptr, &value, 4); },
      [&] { return ANeuralNetworksExecution_setOutputFromMemory(nullptr, 0, nullptr, nullptr, 0, 4); },
      [&] { return ANeuralNetworksExecution_setOutputFromMemory(e, 0, nullptr, nullptr, 0, 4); },
      [&] { return ANeuralNetworksExecution_setTimeout(nullptr, 0); },
      [&] { return ANeuralNetworksExecution_setLoopTimeout(nullptr, 0); },
      [&] { return ANeuralNetworksExecution_setMeasureTiming(nullptr, true); },
      [&] { return ANeuralNetworksExecution_getDuration(nullptr, 0, &duration); },
      [&] { return ANeuralNetworksExecution_getDuration(e, 0, nullptr); },
      [&] { return ANeuralNetworksExecution_setReusable(nullptr, true); },
      [&] { return ANeuralNetworksExecution_enableInputAndOutputPadding(nullptr, true); },
      [&] { return ANeuralNetworksExecution_compute(nullptr); },
      [&] { return ANeuralNetworksExecution_burstCompute(nullptr, nullptr); },
      [&] { return ANeuralNetworksExecution_burstCompute(e, nullptr); },
      [&] { return ANeuralNetworksBurst_create(nullptr, &burst); },
      [&] { return ANeuralNetworksBurst_create(compiled.compilation.get(), nullptr); },
      [&] { return ANeuralNetworksExecution_getOutputOperandRank(nullptr, 0, &number); },
      [&] { return ANeuralNetworksExecution_getOutputOperandDimensions(nullptr, 0, &number); },
  });
  StderrCapture capture;
  CHECK(ANeuralNetworksExecution_setInput(e, 0, nullptr, nullptr, 8) == kNull);
  CHECK(ANeuralNetworksExecution_setOutput(e, 0, nullptr, nullptr, 8) == kNull);
  CHECK(capture.text().find("input 0: no buffer found for 8 bytes") != std::string::npos);
}

TEST_CASE("null: events", "[null]") {
  const Compiled compiled(plus_one({2}));
  const Execution execution = new_execution(compiled);
  ANeuralNetworksExecution* e = execution.get();
  ANeuralNetworksEvent* event = nullptr;
  const ANeuralNetworksEvent* none = nullptr;
  int fd = 0;
  all_refuse({
      [&] { return ANeuralNetworksExecution_startCompute(nullptr, &event); },
      [&] { return ANeuralNetworksExecution_startCompute(e, nullptr); },
      [&] { return ANeuralNetworksExecution_startComputeWithDependencies(nullptr, nullptr, 0, 0, &event); },
      [&] { return ANeuralNetworksExecution_startComputeWithDependencies(e, nullptr, 1, 0, &event); },
      [&] { return ANeuralNetworksExecution_startComputeWithDependencies(e, &none, 1, 0, &event); },
      [&] { return ANeuralNetworksExecution_startComputeWithDependencies(e, nullptr, 0, 0, nullptr); },
      [&] { return ANeuralNetworksEvent_wait(nullptr); },
      [&] { return ANeuralNetworksEvent_createFromSyncFenceFd(1, nullptr); },
      [&] { return ANeuralNetworksEvent_getSyncFenceFd(nullptr, &fd); },
      [&] { return ANeuralNetworksEvent_getSyncFenceFd(none, nullptr); },
  });
  CHECK(fd == -1);
}

TEST_CASE("null: nothing to free", "[null]") {
  StderrCapture capture;
  ANeuralNetworksBurst_free(nullptr);
  ANeuralNetworksCompilation_free(nullptr);
  ANeuralNetworksEvent_free(nullptr);
  ANeuralNetworksExecution_free(nullptr);
  ANeuralNetworksMemoryDesc_free(nullptr);
  ANeuralNetworksMemory_free(nullptr);
  ANeuralNetworksModel_free(nullptr);
  CHECK(capture.text().empty());
}
