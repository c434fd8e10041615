// SPDX-License-Identifier: BSD-3-Clause
// Declares the Neural Networks API's C interface up to feature level 8, with the names and the ABI of the NDK.
//
// Functions return a ResultCode (lib/format/nnapi_codes.h) unless a comment says otherwise; every refusal also prints
// one sentence on stderr. A null pointer that must not be null is UNEXPECTED_NULL; bad data is BAD_DATA; a call at a
// wrong time, or of a function newer than the offered feature level, is BAD_STATE. Functions that free accept null.
// docs/host-runtime.md lists the environment variables and the differences from a phone.
#pragma once

#include <cstddef>
#include <cstdint>

#define NNAPI_HOST_EXPORT __attribute__((visibility("default")))

extern "C" {

struct AHardwareBuffer;
struct ANeuralNetworksBurst;
struct ANeuralNetworksCompilation;
struct ANeuralNetworksDevice;
struct ANeuralNetworksEvent;
struct ANeuralNetworksExecution;
struct ANeuralNetworksMemory;
struct ANeuralNetworksMemoryDesc;
struct ANeuralNetworksModel;

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

// Devices: the host's CPU, and the device of NNAPI_HOST_PROFILE if that variable is set. They stay valid for the life
// of the process. Each call that reads the list makes it anew.
NNAPI_HOST_EXPORT int ANeuralNetworks_getDeviceCount(uint32_t* count);
NNAPI_HOST_EXPORT int ANeuralNetworks_getDevice(uint32_t index, ANeuralNetworksDevice** device);
NNAPI_HOST_EXPORT int ANeuralNetworksDevice_getName(const ANeuralNetworksDevice* device, const char** name);
NNAPI_HOST_EXPORT int ANeuralNetworksDevice_getVersion(const ANeuralNetworksDevice* device, const char** version);
// Returns in `level` the code of the level: 27 for 1, 31 for 5, 1000008 for 8.
NNAPI_HOST_EXPORT int ANeuralNetworksDevice_getFeatureLevel(const ANeuralNetworksDevice* device, int64_t* level);
// Returns in `type` 1 for other, 2 for CPU, 3 for GPU, 4 for accelerator.
NNAPI_HOST_EXPORT int ANeuralNetworksDevice_getType(const ANeuralNetworksDevice* device, int32_t* type);
// Returns false in `isExtensionSupported`: no device has extensions.
NNAPI_HOST_EXPORT int ANeuralNetworksDevice_getExtensionSupport(const ANeuralNetworksDevice* device,
                                                                const char* extensionName, bool* isExtensionSupported);
// Returns at once: devices are always there.
NNAPI_HOST_EXPORT int ANeuralNetworksDevice_wait(const ANeuralNetworksDevice* device);
// Returns the code of the offered level itself, not a ResultCode.
NNAPI_HOST_EXPORT int64_t ANeuralNetworks_getRuntimeFeatureLevel();

// Memory. A memory is either a shared mapping of a file descriptor, or a device memory for the uses that a memory
// descriptor lists. Models and executions that use a memory keep it after it is freed.
// Maps a file descriptor. `protect` is as for mmap; `offset` need not be a multiple of the page size. A regular file
// has to contain all `size` bytes. UNMAPPABLE if mapping fails.
NNAPI_HOST_EXPORT int ANeuralNetworksMemory_createFromFd(size_t size, int protect, int fd, size_t offset,
                                                         ANeuralNetworksMemory** memory);
// Returns BAD_DATA: only Android has hardware buffers.
NNAPI_HOST_EXPORT int ANeuralNetworksMemory_createFromAHardwareBuffer(const AHardwareBuffer* ahwb,
                                                                      ANeuralNetworksMemory** memory);
// Makes a device memory from a finished descriptor. The value written later sets the unknown dimensions.
NNAPI_HOST_EXPORT int ANeuralNetworksMemory_createFromDesc(const ANeuralNetworksMemoryDesc* desc,
                                                           ANeuralNetworksMemory** memory);
// Copies a memory. Two mapped memories need the same size; a device memory needs a fitting type and dimensions. The
// source needs a value.
NNAPI_HOST_EXPORT int ANeuralNetworksMemory_copy(const ANeuralNetworksMemory* src, const ANeuralNetworksMemory* dst);
NNAPI_HOST_EXPORT void ANeuralNetworksMemory_free(ANeuralNetworksMemory* memory);

// Memory descriptors. A descriptor lists the inputs and outputs for which a memory will be used. All of them need the
// same type, scale and zero point, and dimensions that agree.
NNAPI_HOST_EXPORT int ANeuralNetworksMemoryDesc_create(ANeuralNetworksMemoryDesc** desc);
NNAPI_HOST_EXPORT void ANeuralNetworksMemoryDesc_free(ANeuralNetworksMemoryDesc* desc);
// Adds input `index` of a finished compilation. Checks that `frequency` is above 0 and at most 1; it has no effect.
NNAPI_HOST_EXPORT int ANeuralNetworksMemoryDesc_addInputRole(ANeuralNetworksMemoryDesc* desc,
                                                             const ANeuralNetworksCompilation* compilation,
                                                             uint32_t index, float frequency);
NNAPI_HOST_EXPORT int ANeuralNetworksMemoryDesc_addOutputRole(ANeuralNetworksMemoryDesc* desc,
                                                              const ANeuralNetworksCompilation* compilation,
                                                              uint32_t index, float frequency);
// Completes the dimensions that the roles give; 0 means unknown.
NNAPI_HOST_EXPORT int ANeuralNetworksMemoryDesc_setDimensions(ANeuralNetworksMemoryDesc* desc, uint32_t rank,
                                                              const uint32_t* dimensions);
NNAPI_HOST_EXPORT int ANeuralNetworksMemoryDesc_finish(ANeuralNetworksMemoryDesc* desc);

// Models. Adding to a finished model is BAD_DATA. Compilations of a model, and models that refer to it, keep it after
// it is freed.
NNAPI_HOST_EXPORT int ANeuralNetworksModel_create(ANeuralNetworksModel** model);
NNAPI_HOST_EXPORT void ANeuralNetworksModel_free(ANeuralNetworksModel* model);
// Adds an operand. Operand indices count from 0 in the order of addition.
NNAPI_HOST_EXPORT int ANeuralNetworksModel_addOperand(ANeuralNetworksModel* model,
                                                      const ANeuralNetworksOperandType* type);
// Copies values of at most 128 bytes. The caller keeps larger values alive and unchanged as long as the model and its
// compilations live. A null `buffer` with `length` 0 omits an optional argument.
NNAPI_HOST_EXPORT int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel* model, int32_t index,
                                                           const void* buffer, size_t length);
NNAPI_HOST_EXPORT int ANeuralNetworksModel_setOperandValueFromMemory(ANeuralNetworksModel* model, int32_t index,
                                                                     const ANeuralNetworksMemory* memory, size_t offset,
                                                                     size_t length);
// Sets the value of an operand of type MODEL, an argument of IF or WHILE. The other model has to be finished; it stays
// alive as long as a model refers to it.
NNAPI_HOST_EXPORT int ANeuralNetworksModel_setOperandValueFromModel(ANeuralNetworksModel* model, int32_t index,
                                                                    const ANeuralNetworksModel* value);
// Needed for each operand of type TENSOR_QUANT8_SYMM_PER_CHANNEL.
NNAPI_HOST_EXPORT int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(
    ANeuralNetworksModel* model, int32_t index, const ANeuralNetworksSymmPerChannelQuantParams* params);
// Adds an operation. The caller adds its operands first; they need the types that the operation takes. Operations may
// come in any order.
NNAPI_HOST_EXPORT int ANeuralNetworksModel_addOperation(ANeuralNetworksModel* model, int32_t type, uint32_t inputCount,
                                                        const uint32_t* inputs, uint32_t outputCount,
                                                        const uint32_t* outputs);
// May be called once for each model.
NNAPI_HOST_EXPORT int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel* model, uint32_t inputCount,
                                                                    const uint32_t* inputs, uint32_t outputCount,
                                                                    const uint32_t* outputs);
// Allows float16. The runtime still computes in float32 unless NNAPI_HOST_RELAX asks for float16. The choice also holds
// for the models that this model refers to.
NNAPI_HOST_EXPORT int ANeuralNetworksModel_relaxComputationFloat32toFloat16(ANeuralNetworksModel* model, bool allow);
// Checks the whole model.
NNAPI_HOST_EXPORT int ANeuralNetworksModel_finish(ANeuralNetworksModel* model);
// Returns in `supported`, for each operation in the order of addition, whether one of the devices supports it.
NNAPI_HOST_EXPORT int ANeuralNetworksModel_getSupportedOperationsForDevices(const ANeuralNetworksModel* model,
                                                                            const ANeuralNetworksDevice* const* devices,
                                                                            uint32_t deviceCount, bool* supported);
// The three functions for extensions return BAD_DATA: no device has extensions.
NNAPI_HOST_EXPORT int ANeuralNetworksModel_getExtensionOperandType(ANeuralNetworksModel* model,
                                                                   const char* extensionName,
                                                                   uint16_t operandCodeWithinExtension, int32_t* type);
NNAPI_HOST_EXPORT int ANeuralNetworksModel_getExtensionOperationType(ANeuralNetworksModel* model,
                                                                     const char* extensionName,
                                                                     uint16_t operationCodeWithinExtension,
                                                                     int32_t* type);
NNAPI_HOST_EXPORT int ANeuralNetworksModel_setOperandExtensionData(ANeuralNetworksModel* model, int32_t index,
                                                                   const void* data, size_t length);

// Compilations. A compilation needs a finished model.
// The runtime chooses the device: the host's CPU.
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_create(ANeuralNetworksModel* model,
                                                        ANeuralNetworksCompilation** compilation);
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_createForDevices(ANeuralNetworksModel* model,
                                                                  const ANeuralNetworksDevice* const* devices,
                                                                  uint32_t deviceCount,
                                                                  ANeuralNetworksCompilation** compilation);
NNAPI_HOST_EXPORT void ANeuralNetworksCompilation_free(ANeuralNetworksCompilation* compilation);
// Checks the preference (0 low power, 1 fast single answer, 2 sustained speed); it has no effect.
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_setPreference(ANeuralNetworksCompilation* compilation,
                                                               int32_t preference);
// Checks the priority (90 low, 100 medium, 110 high); it has no effect.
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_setPriority(ANeuralNetworksCompilation* compilation, int priority);
// Limits ANeuralNetworksCompilation_finish to `duration` nanoseconds; after them it returns MISSED_DEADLINE_TRANSIENT.
// 0 means no limit. Needs exactly one chosen device.
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_setTimeout(ANeuralNetworksCompilation* compilation, uint64_t duration);
// Sets a directory for the cache file, which the token of 32 bytes names. The runtime writes a missing, damaged or
// foreign file anew. If it can't write to the directory, finish succeeds nevertheless.
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_setCaching(ANeuralNetworksCompilation* compilation,
                                                            const char* cacheDir, const uint8_t* token);
// BAD_DATA if the chosen devices together do not support all operations.
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation* compilation);
// Return the preferred alignment (64 bytes) and padding (1 byte: any length) of the memory of an input or output. They
// need a finished compilation.
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(
    const ANeuralNetworksCompilation* compilation, uint32_t index, uint32_t* alignment);
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(
    const ANeuralNetworksCompilation* compilation, uint32_t index, uint32_t* padding);
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput(
    const ANeuralNetworksCompilation* compilation, uint32_t index, uint32_t* alignment);
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(
    const ANeuralNetworksCompilation* compilation, uint32_t index, uint32_t* padding);

// Executions. An execution needs a finished compilation; any number of executions of one compilation may run at the
// same time. Set all inputs, outputs and options before the first computation. An execution computes once; a reusable
// execution computes repeatedly, one computation at a time.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_create(ANeuralNetworksCompilation* compilation,
                                                      ANeuralNetworksExecution** execution);
// Frees the execution. If a computation is going on in the background, waits for it and prints a sentence, as Android
// does not allow this.
NNAPI_HOST_EXPORT void ANeuralNetworksExecution_free(ANeuralNetworksExecution* execution);
// `type` may complete the dimensions that the model leaves open. A null `buffer` with `length` 0 omits an optional
// input.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_setInput(ANeuralNetworksExecution* execution, int32_t index,
                                                        const ANeuralNetworksOperandType* type, const void* buffer,
                                                        size_t length);
// For a device memory, `offset` and `length` are 0, and its descriptor has to list this use.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_setInputFromMemory(ANeuralNetworksExecution* execution, int32_t index,
                                                                  const ANeuralNetworksOperandType* type,
                                                                  const ANeuralNetworksMemory* memory, size_t offset,
                                                                  size_t length);
// For an output of unknown dimensions, any length is accepted. If the length turns out too small, the computation ends
// with OUTPUT_INSUFFICIENT_SIZE, and getOutputOperandDimensions returns the dimensions needed.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution* execution, int32_t index,
                                                         const ANeuralNetworksOperandType* type, void* buffer,
                                                         size_t length);
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_setOutputFromMemory(ANeuralNetworksExecution* execution, int32_t index,
                                                                   const ANeuralNetworksOperandType* type,
                                                                   const ANeuralNetworksMemory* memory, size_t offset,
                                                                   size_t length);
// Allows buffers that are longer than their values. Call it before setting inputs and outputs.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_enableInputAndOutputPadding(ANeuralNetworksExecution* execution,
                                                                           bool enable);
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_setReusable(ANeuralNetworksExecution* execution, bool reusable);
// Limits each WHILE operation to `duration` nanoseconds; after them the execution ends with MISSED_DEADLINE_TRANSIENT.
// 0 means the default; more than the maximum means the maximum.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_setLoopTimeout(ANeuralNetworksExecution* execution, uint64_t duration);
NNAPI_HOST_EXPORT uint64_t ANeuralNetworks_getDefaultLoopTimeout();
NNAPI_HOST_EXPORT uint64_t ANeuralNetworks_getMaximumLoopTimeout();
// Limits a computation to `duration` nanoseconds: it ends with MISSED_DEADLINE_TRANSIENT before the first operation
// that would start later. 0 means no limit. setTimeout and setMeasureTiming need a compilation for exactly one chosen
// device.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_setTimeout(ANeuralNetworksExecution* execution, uint64_t duration);
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_setMeasureTiming(ANeuralNetworksExecution* execution, bool measure);
// Returns the nanoseconds of the last computation: of its operations (code 0, ON_HARDWARE), or including the copies of
// inputs and outputs (code 1, IN_DRIVER). Codes 2 and 3 (FENCED_ON_HARDWARE, FENCED_IN_DRIVER) count from the end of
// the events that the computation waited for. With an error, `duration` is UINT64_MAX.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_getDuration(const ANeuralNetworksExecution* execution,
                                                           int32_t durationCode, uint64_t* duration);
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_compute(ANeuralNetworksExecution* execution);
// Computes in the background. Wait for the event before you read buffers or free the execution.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_startCompute(ANeuralNetworksExecution* execution,
                                                            ANeuralNetworksEvent** event);
// Computes after other events; if one of them fails, the computation ends with OP_FAILED. `duration` limits the
// computation, not the wait for the events.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_startComputeWithDependencies(
    ANeuralNetworksExecution* execution, const ANeuralNetworksEvent* const* dependencies, uint32_t numOfDependencies,
    uint64_t duration, ANeuralNetworksEvent** event);
// Computes with a burst of the same compilation; a burst runs one computation at a time.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_burstCompute(ANeuralNetworksExecution* execution,
                                                            ANeuralNetworksBurst* burst);
// Need a finished computation. If it ended with OUTPUT_INSUFFICIENT_SIZE, these functions return that code for each
// output that did not fit.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_getOutputOperandRank(ANeuralNetworksExecution* execution, int32_t index,
                                                                    uint32_t* rank);
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_getOutputOperandDimensions(ANeuralNetworksExecution* execution,
                                                                          int32_t index, uint32_t* dimensions);

// Bursts. A burst runs many executions of one compilation, one after the other.
NNAPI_HOST_EXPORT int ANeuralNetworksBurst_create(ANeuralNetworksCompilation* compilation,
                                                  ANeuralNetworksBurst** burst);
NNAPI_HOST_EXPORT void ANeuralNetworksBurst_free(ANeuralNetworksBurst* burst);

// Events. An event stands for the end of a computation in the background, or for a sync fence.
// Waits for the event and returns the computation's code; may be called any number of times.
NNAPI_HOST_EXPORT int ANeuralNetworksEvent_wait(ANeuralNetworksEvent* event);
// Waits for the event, then frees it.
NNAPI_HOST_EXPORT void ANeuralNetworksEvent_free(ANeuralNetworksEvent* event);
// Copies the descriptor, which becomes readable when the fence is signalled.
NNAPI_HOST_EXPORT int ANeuralNetworksEvent_createFromSyncFenceFd(int sync_fence_fd, ANeuralNetworksEvent** event);
// Returns a copy of the descriptor, which the caller closes. For the events of executions returns BAD_DATA, and -1 in
// `sync_fence_fd`: the host itself makes no sync fences.
NNAPI_HOST_EXPORT int ANeuralNetworksEvent_getSyncFenceFd(const ANeuralNetworksEvent* event, int* sync_fence_fd);

}  // extern "C"
