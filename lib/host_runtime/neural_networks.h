// The part of the Neural Networks API's C interface that the host library offers, with the names and the binary
// interface of the NDK. Functions return a ResultCode (lib/format/nnapi_codes.h) unless said otherwise; every refusal
// also prints one sentence on stderr.
#pragma once

#include <cstddef>
#include <cstdint>

#define NNAPI_HOST_EXPORT __attribute__((visibility("default")))

extern "C" {

struct ANeuralNetworksModel;
struct ANeuralNetworksCompilation;
struct ANeuralNetworksExecution;
struct ANeuralNetworksEvent;
struct ANeuralNetworksMemory;
struct ANeuralNetworksDevice;

struct ANeuralNetworksOperandType {
  int32_t type;  // an OperandCode
  uint32_t dimensionCount;
  const uint32_t* dimensions;  // 0 means unknown
  float scale;
  int32_t zeroPoint;
};

struct ANeuralNetworksSymmPerChannelQuantParams {
  uint32_t channelDim;
  uint32_t scaleCount;
  const float* scales;
};

// Devices: there is one, and it offers the feature level of the environment variable NNAPI_HOST_FEATURE_LEVEL (1 to 8,
// 8 if unset).
NNAPI_HOST_EXPORT int ANeuralNetworks_getDeviceCount(uint32_t* count);
NNAPI_HOST_EXPORT int ANeuralNetworks_getDevice(uint32_t index, ANeuralNetworksDevice** device);
NNAPI_HOST_EXPORT int ANeuralNetworksDevice_getName(const ANeuralNetworksDevice* device, const char** name);
NNAPI_HOST_EXPORT int ANeuralNetworksDevice_getVersion(const ANeuralNetworksDevice* device, const char** version);
NNAPI_HOST_EXPORT int ANeuralNetworksDevice_getFeatureLevel(const ANeuralNetworksDevice* device, int64_t* level);
NNAPI_HOST_EXPORT int ANeuralNetworksDevice_getType(const ANeuralNetworksDevice* device, int32_t* type);
NNAPI_HOST_EXPORT int64_t ANeuralNetworks_getRuntimeFeatureLevel();

// Memory: a mapping of a file descriptor.
NNAPI_HOST_EXPORT int ANeuralNetworksMemory_createFromFd(size_t size, int protect, int fd, size_t offset,
                                                         ANeuralNetworksMemory** memory);
NNAPI_HOST_EXPORT void ANeuralNetworksMemory_free(ANeuralNetworksMemory* memory);

// Model. Values of at most 128 bytes are copied; the caller keeps larger ones alive as long as the model and its
// compilations.
NNAPI_HOST_EXPORT int ANeuralNetworksModel_create(ANeuralNetworksModel** model);
NNAPI_HOST_EXPORT void ANeuralNetworksModel_free(ANeuralNetworksModel* model);
NNAPI_HOST_EXPORT int ANeuralNetworksModel_addOperand(ANeuralNetworksModel* model,
                                                      const ANeuralNetworksOperandType* type);
NNAPI_HOST_EXPORT int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel* model, int32_t index,
                                                           const void* buffer, size_t length);
NNAPI_HOST_EXPORT int ANeuralNetworksModel_setOperandValueFromMemory(ANeuralNetworksModel* model, int32_t index,
                                                                     const ANeuralNetworksMemory* memory, size_t offset,
                                                                     size_t length);
// For an operand of type MODEL, as IF and WHILE take it. The other model has to be finished; it stays alive as long as
// it is referred to.
NNAPI_HOST_EXPORT int ANeuralNetworksModel_setOperandValueFromModel(ANeuralNetworksModel* model, int32_t index,
                                                                    const ANeuralNetworksModel* value);
NNAPI_HOST_EXPORT int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(
    ANeuralNetworksModel* model, int32_t index, const ANeuralNetworksSymmPerChannelQuantParams* params);
NNAPI_HOST_EXPORT int ANeuralNetworksModel_addOperation(ANeuralNetworksModel* model, int32_t type, uint32_t inputCount,
                                                        const uint32_t* inputs, uint32_t outputCount,
                                                        const uint32_t* outputs);
NNAPI_HOST_EXPORT int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel* model, uint32_t inputCount,
                                                                    const uint32_t* inputs, uint32_t outputCount,
                                                                    const uint32_t* outputs);
NNAPI_HOST_EXPORT int ANeuralNetworksModel_relaxComputationFloat32toFloat16(ANeuralNetworksModel* model, bool allow);
NNAPI_HOST_EXPORT int ANeuralNetworksModel_finish(ANeuralNetworksModel* model);
NNAPI_HOST_EXPORT int ANeuralNetworksModel_getSupportedOperationsForDevices(const ANeuralNetworksModel* model,
                                                                            const ANeuralNetworksDevice* const* devices,
                                                                            uint32_t deviceCount, bool* supported);

// Compilation.
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_create(ANeuralNetworksModel* model,
                                                        ANeuralNetworksCompilation** compilation);
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_createForDevices(ANeuralNetworksModel* model,
                                                                  const ANeuralNetworksDevice* const* devices,
                                                                  uint32_t deviceCount,
                                                                  ANeuralNetworksCompilation** compilation);
NNAPI_HOST_EXPORT void ANeuralNetworksCompilation_free(ANeuralNetworksCompilation* compilation);
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_setPreference(ANeuralNetworksCompilation* compilation,
                                                               int32_t preference);
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation* compilation);

// Execution: one computation. Executions of one compilation may run at the same time.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_create(ANeuralNetworksCompilation* compilation,
                                                      ANeuralNetworksExecution** execution);
NNAPI_HOST_EXPORT void ANeuralNetworksExecution_free(ANeuralNetworksExecution* execution);
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_setInput(ANeuralNetworksExecution* execution, int32_t index,
                                                        const ANeuralNetworksOperandType* type, const void* buffer,
                                                        size_t length);
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_setInputFromMemory(ANeuralNetworksExecution* execution, int32_t index,
                                                                  const ANeuralNetworksOperandType* type,
                                                                  const ANeuralNetworksMemory* memory, size_t offset,
                                                                  size_t length);
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution* execution, int32_t index,
                                                         const ANeuralNetworksOperandType* type, void* buffer,
                                                         size_t length);
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_setOutputFromMemory(ANeuralNetworksExecution* execution, int32_t index,
                                                                   const ANeuralNetworksOperandType* type,
                                                                   const ANeuralNetworksMemory* memory, size_t offset,
                                                                   size_t length);
// Nanoseconds that each WHILE may take; the execution ends with MISSED_DEADLINE_TRANSIENT after them. 0 means the
// default, more than the maximum means the maximum.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_setLoopTimeout(ANeuralNetworksExecution* execution, uint64_t duration);
NNAPI_HOST_EXPORT uint64_t ANeuralNetworks_getDefaultLoopTimeout();
NNAPI_HOST_EXPORT uint64_t ANeuralNetworks_getMaximumLoopTimeout();
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_compute(ANeuralNetworksExecution* execution);
// Computes before it returns; the event is complete from the start.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_startCompute(ANeuralNetworksExecution* execution,
                                                            ANeuralNetworksEvent** event);
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_getOutputOperandRank(ANeuralNetworksExecution* execution, int32_t index,
                                                                    uint32_t* rank);
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_getOutputOperandDimensions(ANeuralNetworksExecution* execution,
                                                                          int32_t index, uint32_t* dimensions);
NNAPI_HOST_EXPORT int ANeuralNetworksEvent_wait(ANeuralNetworksEvent* event);
NNAPI_HOST_EXPORT void ANeuralNetworksEvent_free(ANeuralNetworksEvent* event);

}  // extern "C"
