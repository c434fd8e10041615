// The Neural Networks API's C interface up to feature level 8, with the names and the binary interface of the NDK.
//
// Functions return a ResultCode (lib/format/nnapi_codes.h) unless said otherwise; every refusal also prints one
// sentence on stderr. A null where something is needed is UNEXPECTED_NULL, bad data BAD_DATA, a call at a wrong time
// BAD_STATE, and so is a function that came after the offered feature level. Free functions take null.
// docs/host-runtime.md has the environment variables, and what differs from a phone.
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

// Devices: the host's CPU, and the one of NNAPI_HOST_PROFILE if that is set. They stay valid for the life of the
// process. The list is made anew by each call that reads it.
NNAPI_HOST_EXPORT int ANeuralNetworks_getDeviceCount(uint32_t* count);
NNAPI_HOST_EXPORT int ANeuralNetworks_getDevice(uint32_t index, ANeuralNetworksDevice** device);
NNAPI_HOST_EXPORT int ANeuralNetworksDevice_getName(const ANeuralNetworksDevice* device, const char** name);
NNAPI_HOST_EXPORT int ANeuralNetworksDevice_getVersion(const ANeuralNetworksDevice* device, const char** version);
// The code of the level: 27 for 1, 31 for 5, 1000008 for 8.
NNAPI_HOST_EXPORT int ANeuralNetworksDevice_getFeatureLevel(const ANeuralNetworksDevice* device, int64_t* level);
// 1 other, 2 CPU, 3 GPU, 4 accelerator.
NNAPI_HOST_EXPORT int ANeuralNetworksDevice_getType(const ANeuralNetworksDevice* device, int32_t* type);
// Answers false: no device has extensions.
NNAPI_HOST_EXPORT int ANeuralNetworksDevice_getExtensionSupport(const ANeuralNetworksDevice* device,
                                                                const char* extensionName, bool* isExtensionSupported);
// Returns at once: devices are always there.
NNAPI_HOST_EXPORT int ANeuralNetworksDevice_wait(const ANeuralNetworksDevice* device);
// The code of the offered level, as the result.
NNAPI_HOST_EXPORT int64_t ANeuralNetworks_getRuntimeFeatureLevel();

// Memory. One is either a shared mapping of a file descriptor, or the runtime's own for the uses that a descriptor
// lists. Freeing it does not take it from models and executions that use it. `protect` as for mmap; `offset` need not
// be a page's. A regular file has to hold all of it. UNMAPPABLE where mapping fails.
NNAPI_HOST_EXPORT int ANeuralNetworksMemory_createFromFd(size_t size, int protect, int fd, size_t offset,
                                                         ANeuralNetworksMemory** memory);
// BAD_DATA: hardware buffers are Android's.
NNAPI_HOST_EXPORT int ANeuralNetworksMemory_createFromAHardwareBuffer(const AHardwareBuffer* ahwb,
                                                                      ANeuralNetworksMemory** memory);
// Of a finished descriptor. Unknown dimensions are taken from what is written.
NNAPI_HOST_EXPORT int ANeuralNetworksMemory_createFromDesc(const ANeuralNetworksMemoryDesc* desc,
                                                           ANeuralNetworksMemory** memory);
// Mapped memories have to be of one size; of the runtime's own, types and dimensions have to fit. The source needs a
// value.
NNAPI_HOST_EXPORT int ANeuralNetworksMemory_copy(const ANeuralNetworksMemory* src, const ANeuralNetworksMemory* dst);
NNAPI_HOST_EXPORT void ANeuralNetworksMemory_free(ANeuralNetworksMemory* memory);

// Memory descriptors: the inputs and outputs that a memory will be used for, which all have one type, scale and zero
// point and dimensions that fit together.
NNAPI_HOST_EXPORT int ANeuralNetworksMemoryDesc_create(ANeuralNetworksMemoryDesc** desc);
NNAPI_HOST_EXPORT void ANeuralNetworksMemoryDesc_free(ANeuralNetworksMemoryDesc* desc);
// Input `index` of a finished compilation; `frequency`, above 0 and at most 1, is checked and has no effect.
NNAPI_HOST_EXPORT int ANeuralNetworksMemoryDesc_addInputRole(ANeuralNetworksMemoryDesc* desc,
                                                             const ANeuralNetworksCompilation* compilation,
                                                             uint32_t index, float frequency);
NNAPI_HOST_EXPORT int ANeuralNetworksMemoryDesc_addOutputRole(ANeuralNetworksMemoryDesc* desc,
                                                              const ANeuralNetworksCompilation* compilation,
                                                              uint32_t index, float frequency);
// Adds to what the roles say of the dimensions; 0 means unknown.
NNAPI_HOST_EXPORT int ANeuralNetworksMemoryDesc_setDimensions(ANeuralNetworksMemoryDesc* desc, uint32_t rank,
                                                              const uint32_t* dimensions);
NNAPI_HOST_EXPORT int ANeuralNetworksMemoryDesc_finish(ANeuralNetworksMemoryDesc* desc);

// Models. Nothing can be added to a finished one (BAD_DATA). Freeing it does not take it from its compilations, nor
// from models that refer to it.
NNAPI_HOST_EXPORT int ANeuralNetworksModel_create(ANeuralNetworksModel** model);
NNAPI_HOST_EXPORT void ANeuralNetworksModel_free(ANeuralNetworksModel* model);
// Operands are counted from 0 in the order of addition.
NNAPI_HOST_EXPORT int ANeuralNetworksModel_addOperand(ANeuralNetworksModel* model,
                                                      const ANeuralNetworksOperandType* type);
// Values of at most 128 bytes are copied; the caller keeps larger ones alive and unchanged as long as the model and its
// compilations. Null and 0 omit an optional argument.
NNAPI_HOST_EXPORT int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel* model, int32_t index,
                                                           const void* buffer, size_t length);
NNAPI_HOST_EXPORT int ANeuralNetworksModel_setOperandValueFromMemory(ANeuralNetworksModel* model, int32_t index,
                                                                     const ANeuralNetworksMemory* memory, size_t offset,
                                                                     size_t length);
// For an operand of type MODEL, as IF and WHILE take it. The other model has to be finished; it stays alive as long as
// it is referred to.
NNAPI_HOST_EXPORT int ANeuralNetworksModel_setOperandValueFromModel(ANeuralNetworksModel* model, int32_t index,
                                                                    const ANeuralNetworksModel* value);
// Needed for each operand of type TENSOR_QUANT8_SYMM_PER_CHANNEL.
NNAPI_HOST_EXPORT int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(
    ANeuralNetworksModel* model, int32_t index, const ANeuralNetworksSymmPerChannelQuantParams* params);
// Operands have to be added before, and have the types that the operation takes. Operations may come in any order.
NNAPI_HOST_EXPORT int ANeuralNetworksModel_addOperation(ANeuralNetworksModel* model, int32_t type, uint32_t inputCount,
                                                        const uint32_t* inputs, uint32_t outputCount,
                                                        const uint32_t* outputs);
// Once for each model.
NNAPI_HOST_EXPORT int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel* model, uint32_t inputCount,
                                                                    const uint32_t* inputs, uint32_t outputCount,
                                                                    const uint32_t* outputs);
// Computation is in float32 all the same, unless NNAPI_HOST_RELAX says otherwise. The outer model's choice holds for
// those that it refers to.
NNAPI_HOST_EXPORT int ANeuralNetworksModel_relaxComputationFloat32toFloat16(ANeuralNetworksModel* model, bool allow);
// Checks the whole model.
NNAPI_HOST_EXPORT int ANeuralNetworksModel_finish(ANeuralNetworksModel* model);
// For each operation in the order of addition, whether one of the devices takes it.
NNAPI_HOST_EXPORT int ANeuralNetworksModel_getSupportedOperationsForDevices(const ANeuralNetworksModel* model,
                                                                            const ANeuralNetworksDevice* const* devices,
                                                                            uint32_t deviceCount, bool* supported);
// BAD_DATA, these three: no device has extensions.
NNAPI_HOST_EXPORT int ANeuralNetworksModel_getExtensionOperandType(ANeuralNetworksModel* model,
                                                                   const char* extensionName,
                                                                   uint16_t operandCodeWithinExtension, int32_t* type);
NNAPI_HOST_EXPORT int ANeuralNetworksModel_getExtensionOperationType(ANeuralNetworksModel* model,
                                                                     const char* extensionName,
                                                                     uint16_t operationCodeWithinExtension,
                                                                     int32_t* type);
NNAPI_HOST_EXPORT int ANeuralNetworksModel_setOperandExtensionData(ANeuralNetworksModel* model, int32_t index,
                                                                   const void* data, size_t length);

// Compilations, of a finished model.
// The runtime chooses the device: the host.
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_create(ANeuralNetworksModel* model,
                                                        ANeuralNetworksCompilation** compilation);
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_createForDevices(ANeuralNetworksModel* model,
                                                                  const ANeuralNetworksDevice* const* devices,
                                                                  uint32_t deviceCount,
                                                                  ANeuralNetworksCompilation** compilation);
NNAPI_HOST_EXPORT void ANeuralNetworksCompilation_free(ANeuralNetworksCompilation* compilation);
// 0 low power, 1 fast single answer, 2 sustained speed: checked, without effect.
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_setPreference(ANeuralNetworksCompilation* compilation,
                                                               int32_t preference);
// 90 low, 100 medium, 110 high: checked, without effect.
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_setPriority(ANeuralNetworksCompilation* compilation, int priority);
// Nanoseconds for finish, which is MISSED_DEADLINE_TRANSIENT after them; 0 means no limit. Needs exactly one chosen
// device.
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_setTimeout(ANeuralNetworksCompilation* compilation, uint64_t duration);
// A directory for a file named by the token, which has 32 bytes. A missing, damaged or foreign file is written anew; a
// directory that can't be written to does not make finish fail.
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_setCaching(ANeuralNetworksCompilation* compilation,
                                                            const char* cacheDir, const uint8_t* token);
// BAD_DATA where the chosen devices together don't take all operations.
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation* compilation);
// Of a finished compilation, what suits the memory of an input or output: 64 bytes, and any length.
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(
    const ANeuralNetworksCompilation* compilation, uint32_t index, uint32_t* alignment);
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(
    const ANeuralNetworksCompilation* compilation, uint32_t index, uint32_t* padding);
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput(
    const ANeuralNetworksCompilation* compilation, uint32_t index, uint32_t* alignment);
NNAPI_HOST_EXPORT int ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(
    const ANeuralNetworksCompilation* compilation, uint32_t index, uint32_t* padding);

// Executions, of a finished compilation; any number of one compilation may run at the same time. All inputs and outputs
// and options are set before the first computation. An execution computes once, a reusable one repeatedly, one at a
// time.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_create(ANeuralNetworksCompilation* compilation,
                                                      ANeuralNetworksExecution** execution);
// Waits for a computation in the background, with a sentence, as Android asks for none to be going on.
NNAPI_HOST_EXPORT void ANeuralNetworksExecution_free(ANeuralNetworksExecution* execution);
// A type may complete the dimensions that the model leaves open. Null and 0 omit an optional input.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_setInput(ANeuralNetworksExecution* execution, int32_t index,
                                                        const ANeuralNetworksOperandType* type, const void* buffer,
                                                        size_t length);
// Offset and length are 0 for a memory from a descriptor, which has to list this use.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_setInputFromMemory(ANeuralNetworksExecution* execution, int32_t index,
                                                                  const ANeuralNetworksOperandType* type,
                                                                  const ANeuralNetworksMemory* memory, size_t offset,
                                                                  size_t length);
// Of unknown dimensions any length will do; one that turns out too small is OUTPUT_INSUFFICIENT_SIZE, and
// getOutputOperandDimensions tells what is needed.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution* execution, int32_t index,
                                                         const ANeuralNetworksOperandType* type, void* buffer,
                                                         size_t length);
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_setOutputFromMemory(ANeuralNetworksExecution* execution, int32_t index,
                                                                   const ANeuralNetworksOperandType* type,
                                                                   const ANeuralNetworksMemory* memory, size_t offset,
                                                                   size_t length);
// Buffers may be longer than their values. To be called before inputs and outputs are set.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_enableInputAndOutputPadding(ANeuralNetworksExecution* execution,
                                                                           bool enable);
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_setReusable(ANeuralNetworksExecution* execution, bool reusable);
// Nanoseconds that each WHILE may take; the execution ends with MISSED_DEADLINE_TRANSIENT after them. 0 means the
// default, more than the maximum means the maximum.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_setLoopTimeout(ANeuralNetworksExecution* execution, uint64_t duration);
NNAPI_HOST_EXPORT uint64_t ANeuralNetworks_getDefaultLoopTimeout();
NNAPI_HOST_EXPORT uint64_t ANeuralNetworks_getMaximumLoopTimeout();
// Nanoseconds for a computation, which ends with MISSED_DEADLINE_TRANSIENT before the first operation that is not
// started in time; 0 means no limit. Needs a compilation for exactly one chosen device, as setMeasureTiming does.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_setTimeout(ANeuralNetworksExecution* execution, uint64_t duration);
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_setMeasureTiming(ANeuralNetworksExecution* execution, bool measure);
// Nanoseconds of the last computation: its operations (0, ON_HARDWARE), and with the copies of inputs and outputs (1,
// IN_DRIVER); 2 and 3 the same from the end of what it waited for. UINT64_MAX with an error.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_getDuration(const ANeuralNetworksExecution* execution,
                                                           int32_t durationCode, uint64_t* duration);
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_compute(ANeuralNetworksExecution* execution);
// Computes in the background. The event has to be waited for before buffers are read and the execution is freed.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_startCompute(ANeuralNetworksExecution* execution,
                                                            ANeuralNetworksEvent** event);
// After other events; where one of them fails, OP_FAILED is this one's result. `duration` limits the computation alone.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_startComputeWithDependencies(
    ANeuralNetworksExecution* execution, const ANeuralNetworksEvent* const* dependencies, uint32_t numOfDependencies,
    uint64_t duration, ANeuralNetworksEvent** event);
// With a burst of the same compilation, which computes one at a time.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_burstCompute(ANeuralNetworksExecution* execution,
                                                            ANeuralNetworksBurst* burst);
// After a computation, also one that ended with OUTPUT_INSUFFICIENT_SIZE, which is then the code of the outputs that
// did not fit.
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_getOutputOperandRank(ANeuralNetworksExecution* execution, int32_t index,
                                                                    uint32_t* rank);
NNAPI_HOST_EXPORT int ANeuralNetworksExecution_getOutputOperandDimensions(ANeuralNetworksExecution* execution,
                                                                          int32_t index, uint32_t* dimensions);

// Bursts: many executions of one compilation, one after the other.
NNAPI_HOST_EXPORT int ANeuralNetworksBurst_create(ANeuralNetworksCompilation* compilation,
                                                  ANeuralNetworksBurst** burst);
NNAPI_HOST_EXPORT void ANeuralNetworksBurst_free(ANeuralNetworksBurst* burst);

// Events: the end of a computation in the background, or a sync fence.
// Returns the computation's code, any number of times.
NNAPI_HOST_EXPORT int ANeuralNetworksEvent_wait(ANeuralNetworksEvent* event);
// Waits first.
NNAPI_HOST_EXPORT void ANeuralNetworksEvent_free(ANeuralNetworksEvent* event);
// A copy of the descriptor, which becomes readable when the fence is signalled.
NNAPI_HOST_EXPORT int ANeuralNetworksEvent_createFromSyncFenceFd(int sync_fence_fd, ANeuralNetworksEvent** event);
// A copy for the caller to close. BAD_DATA and -1 for the events of executions: the host has no sync fences of its own.
NNAPI_HOST_EXPORT int ANeuralNetworksEvent_getSyncFenceFd(const ANeuralNetworksEvent* event, int* sync_fence_fd);

}  // extern "C"
