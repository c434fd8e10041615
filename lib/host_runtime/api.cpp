// The C interface: null checks, and failures turned into a code and a sentence. No exception leaves it.
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <vector>

#include "lib/format/operation_table.h"
#include "lib/host_runtime/execution.h"
#include "lib/host_runtime/failure.h"
#include "lib/host_runtime/feature_level.h"
#include "lib/host_runtime/memory.h"
#include "lib/host_runtime/model.h"
#include "lib/host_runtime/neural_networks.h"

using nnapi_convert::ResultCode;
namespace host = nnapi_convert::host;

struct ANeuralNetworksModel {
  std::shared_ptr<host::Model> model;
};
struct ANeuralNetworksCompilation {
  std::shared_ptr<host::Compilation> compilation;
};
struct ANeuralNetworksExecution {
  std::unique_ptr<host::Execution> execution;
};
struct ANeuralNetworksEvent {
  int result;
};
struct ANeuralNetworksMemory {
  std::shared_ptr<host::Memory> memory;
};
struct ANeuralNetworksDevice {
  const char* name;
  const char* version;
  int32_t type;
};

namespace {

constexpr int32_t kCpuDevice = 2;
const ANeuralNetworksDevice kDevice = {"nnapi-convert-host", "1", kCpuDevice};

int report(ResultCode code, const char* sentence) {
  std::fprintf(stderr, "neuralnetworks: %s\n", sentence);
  return static_cast<int>(code);
}

template <typename Body>
int guarded(const Body& body) {
  try {
    body();
    return static_cast<int>(ResultCode::NO_ERROR);
  } catch (const host::Failure& failure) {
    return report(failure.code(), failure.what());
  } catch (const std::bad_alloc&) {
    return report(ResultCode::OUT_OF_MEMORY, "out of memory");
  } catch (const c10::Error& error) {
    return report(ResultCode::OP_FAILED, error.what_without_backtrace());
  } catch (const std::exception& error) {
    return report(ResultCode::OP_FAILED, error.what());
  }
}

void require(const void* pointer, const char* what) {
  if (!pointer) host::fail(ResultCode::UNEXPECTED_NULL, "{}: null found", what);
}

std::vector<uint32_t> indices(const uint32_t* first, uint32_t count, const char* what) {
  if (count != 0) require(first, what);
  return count == 0 ? std::vector<uint32_t>() : std::vector<uint32_t>(first, first + count);
}

void check_devices(const ANeuralNetworksDevice* const* devices, uint32_t count) {
  require(devices, "devices");
  if (count == 0) host::bad_data("devices: none found, at least one needed");
  for (uint32_t i = 0; i < count; ++i) {
    require(devices[i], "devices");
    if (devices[i] != &kDevice) host::bad_data("devices: device {} is not of this runtime", i);
    if (i > 0) host::bad_data("devices: device {} is listed twice", i);
  }
}

int64_t feature_level_code() {
  const int level = host::offered_feature_level();
  for (const auto& info : nnapi_convert::all_feature_levels()) {
    if (info.level == level) return info.code;
  }
  return 0;
}

}  // namespace

int ANeuralNetworks_getDeviceCount(uint32_t* count) {
  return guarded([&] {
    require(count, "getDeviceCount");
    *count = 1;
  });
}

int ANeuralNetworks_getDevice(uint32_t index, ANeuralNetworksDevice** device) {
  return guarded([&] {
    require(device, "getDevice");
    if (index != 0) host::bad_data("getDevice: index {} found, 0 needed", index);
    *device = const_cast<ANeuralNetworksDevice*>(&kDevice);
  });
}

int ANeuralNetworksDevice_getName(const ANeuralNetworksDevice* device, const char** name) {
  return guarded([&] {
    require(device, "getName: device");
    require(name, "getName");
    *name = device->name;
  });
}

int ANeuralNetworksDevice_getVersion(const ANeuralNetworksDevice* device, const char** version) {
  return guarded([&] {
    require(device, "getVersion: device");
    require(version, "getVersion");
    *version = device->version;
  });
}

int ANeuralNetworksDevice_getFeatureLevel(const ANeuralNetworksDevice* device, int64_t* level) {
  return guarded([&] {
    require(device, "getFeatureLevel: device");
    require(level, "getFeatureLevel");
    *level = feature_level_code();
  });
}

int ANeuralNetworksDevice_getType(const ANeuralNetworksDevice* device, int32_t* type) {
  return guarded([&] {
    require(device, "getType: device");
    require(type, "getType");
    *type = device->type;
  });
}

int64_t ANeuralNetworks_getRuntimeFeatureLevel() {
  int64_t level = 0;
  guarded([&] { level = feature_level_code(); });
  return level;
}

int ANeuralNetworksMemory_createFromFd(size_t size, int protect, int fd, size_t offset,
                                       ANeuralNetworksMemory** memory) {
  return guarded([&] {
    require(memory, "memory");
    *memory = nullptr;
    *memory = new ANeuralNetworksMemory{std::make_shared<host::Memory>(size, protect, fd, offset)};
  });
}

void ANeuralNetworksMemory_free(ANeuralNetworksMemory* memory) {
  delete memory;
}

int ANeuralNetworksModel_create(ANeuralNetworksModel** model) {
  return guarded([&] {
    require(model, "model");
    *model = nullptr;
    *model = new ANeuralNetworksModel{std::make_shared<host::Model>()};
  });
}

void ANeuralNetworksModel_free(ANeuralNetworksModel* model) {
  delete model;
}

int ANeuralNetworksModel_addOperand(ANeuralNetworksModel* model, const ANeuralNetworksOperandType* type) {
  return guarded([&] {
    require(model, "addOperand: model");
    require(type, "addOperand: type");
    model->model->add_operand(*type);
  });
}

int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel* model, int32_t index, const void* buffer,
                                         size_t length) {
  return guarded([&] {
    require(model, "setOperandValue: model");
    model->model->set_value(index, buffer, length, nullptr);
  });
}

int ANeuralNetworksModel_setOperandValueFromMemory(ANeuralNetworksModel* model, int32_t index,
                                                   const ANeuralNetworksMemory* memory, size_t offset, size_t length) {
  return guarded([&] {
    require(model, "setOperandValueFromMemory: model");
    require(memory, "setOperandValueFromMemory: memory");
    model->model->set_value(index, memory->memory->at(offset, length), length, memory->memory);
  });
}

int ANeuralNetworksModel_setOperandValueFromModel(ANeuralNetworksModel* model, int32_t index,
                                                  const ANeuralNetworksModel* value) {
  return guarded([&] {
    require(model, "setOperandValueFromModel: model");
    require(value, "setOperandValueFromModel: value");
    model->model->set_model(index, value->model);
  });
}

int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(ANeuralNetworksModel* model, int32_t index,
                                                             const ANeuralNetworksSymmPerChannelQuantParams* params) {
  return guarded([&] {
    require(model, "setOperandSymmPerChannelQuantParams: model");
    require(params, "setOperandSymmPerChannelQuantParams: parameters");
    model->model->set_channel_quantization(index, *params);
  });
}

int ANeuralNetworksModel_addOperation(ANeuralNetworksModel* model, int32_t type, uint32_t inputCount,
                                      const uint32_t* inputs, uint32_t outputCount, const uint32_t* outputs) {
  return guarded([&] {
    require(model, "addOperation: model");
    model->model->add_operation(type, indices(inputs, inputCount, "addOperation: inputs"),
                                indices(outputs, outputCount, "addOperation: outputs"));
  });
}

int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel* model, uint32_t inputCount,
                                                  const uint32_t* inputs, uint32_t outputCount,
                                                  const uint32_t* outputs) {
  return guarded([&] {
    require(model, "identifyInputsAndOutputs: model");
    model->model->identify_inputs_and_outputs(indices(inputs, inputCount, "identifyInputsAndOutputs: inputs"),
                                              indices(outputs, outputCount, "identifyInputsAndOutputs: outputs"));
  });
}

int ANeuralNetworksModel_relaxComputationFloat32toFloat16(ANeuralNetworksModel* model, bool allow) {
  return guarded([&] {
    require(model, "relaxComputationFloat32toFloat16: model");
    model->model->relax_to_float16(allow);
  });
}

int ANeuralNetworksModel_finish(ANeuralNetworksModel* model) {
  return guarded([&] {
    require(model, "finish: model");
    model->model->finish();
  });
}

int ANeuralNetworksModel_getSupportedOperationsForDevices(const ANeuralNetworksModel* model,
                                                          const ANeuralNetworksDevice* const* devices,
                                                          uint32_t deviceCount, bool* supported) {
  return guarded([&] {
    require(model, "getSupportedOperationsForDevices: model");
    require(supported, "getSupportedOperationsForDevices: result");
    check_devices(devices, deviceCount);
    if (!model->model->finished()) {
      host::fail(ResultCode::BAD_STATE, "getSupportedOperationsForDevices: the model is not finished");
    }
    for (std::size_t i = 0; i < model->model->operations().size(); ++i) supported[i] = true;
  });
}

int ANeuralNetworksCompilation_create(ANeuralNetworksModel* model, ANeuralNetworksCompilation** compilation) {
  return guarded([&] {
    require(compilation, "compilation");
    *compilation = nullptr;
    require(model, "compilation: model");
    *compilation = new ANeuralNetworksCompilation{std::make_shared<host::Compilation>(model->model)};
  });
}

int ANeuralNetworksCompilation_createForDevices(ANeuralNetworksModel* model,
                                                const ANeuralNetworksDevice* const* devices, uint32_t deviceCount,
                                                ANeuralNetworksCompilation** compilation) {
  const int refused = guarded([&] { check_devices(devices, deviceCount); });
  return refused ? refused : ANeuralNetworksCompilation_create(model, compilation);
}

void ANeuralNetworksCompilation_free(ANeuralNetworksCompilation* compilation) {
  delete compilation;
}

int ANeuralNetworksCompilation_setPreference(ANeuralNetworksCompilation* compilation, int32_t preference) {
  return guarded([&] {
    require(compilation, "setPreference: compilation");
    compilation->compilation->set_preference(preference);
  });
}

int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation* compilation) {
  return guarded([&] {
    require(compilation, "finish: compilation");
    compilation->compilation->finish();
  });
}

int ANeuralNetworksExecution_create(ANeuralNetworksCompilation* compilation, ANeuralNetworksExecution** execution) {
  return guarded([&] {
    require(execution, "execution");
    *execution = nullptr;
    require(compilation, "execution: compilation");
    *execution = new ANeuralNetworksExecution{std::make_unique<host::Execution>(compilation->compilation)};
  });
}

void ANeuralNetworksExecution_free(ANeuralNetworksExecution* execution) {
  delete execution;
}

int ANeuralNetworksExecution_setInput(ANeuralNetworksExecution* execution, int32_t index,
                                      const ANeuralNetworksOperandType* type, const void* buffer, size_t length) {
  return guarded([&] {
    require(execution, "setInput: execution");
    execution->execution->set_input(index, type, buffer, length);
  });
}

int ANeuralNetworksExecution_setInputFromMemory(ANeuralNetworksExecution* execution, int32_t index,
                                                const ANeuralNetworksOperandType* type,
                                                const ANeuralNetworksMemory* memory, size_t offset, size_t length) {
  return guarded([&] {
    require(execution, "setInputFromMemory: execution");
    require(memory, "setInputFromMemory: memory");
    execution->execution->set_input(index, type, memory->memory->at(offset, length), length);
  });
}

int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution* execution, int32_t index,
                                       const ANeuralNetworksOperandType* type, void* buffer, size_t length) {
  return guarded([&] {
    require(execution, "setOutput: execution");
    execution->execution->set_output(index, type, buffer, length);
  });
}

int ANeuralNetworksExecution_setOutputFromMemory(ANeuralNetworksExecution* execution, int32_t index,
                                                 const ANeuralNetworksOperandType* type,
                                                 const ANeuralNetworksMemory* memory, size_t offset, size_t length) {
  return guarded([&] {
    require(execution, "setOutputFromMemory: execution");
    require(memory, "setOutputFromMemory: memory");
    if (!memory->memory->writable()) host::bad_data("output {}: its memory is not writable", index);
    execution->execution->set_output(index, type, memory->memory->at(offset, length), length);
  });
}

int ANeuralNetworksExecution_setLoopTimeout(ANeuralNetworksExecution* execution, uint64_t duration) {
  return guarded([&] {
    require(execution, "setLoopTimeout: execution");
    execution->execution->set_loop_timeout(duration);
  });
}

uint64_t ANeuralNetworks_getDefaultLoopTimeout() {
  return static_cast<uint64_t>(host::kDefaultLoopTimeout.count());
}

uint64_t ANeuralNetworks_getMaximumLoopTimeout() {
  return static_cast<uint64_t>(host::kMaximumLoopTimeout.count());
}

int ANeuralNetworksExecution_compute(ANeuralNetworksExecution* execution) {
  return guarded([&] {
    require(execution, "compute: execution");
    execution->execution->compute();
  });
}

int ANeuralNetworksExecution_startCompute(ANeuralNetworksExecution* execution, ANeuralNetworksEvent** event) {
  return guarded([&] {
    require(event, "startCompute: event");
    *event = nullptr;
    auto finished = std::make_unique<ANeuralNetworksEvent>();
    finished->result = ANeuralNetworksExecution_compute(execution);
    *event = finished.release();
  });
}

int ANeuralNetworksExecution_getOutputOperandRank(ANeuralNetworksExecution* execution, int32_t index, uint32_t* rank) {
  int insufficient = 0;
  const int refused = guarded([&] {
    require(execution, "getOutputOperandRank: execution");
    require(rank, "getOutputOperandRank");
    *rank = static_cast<uint32_t>(execution->execution->output_dims(index).size());
    if (!execution->execution->output_fits(index))
      insufficient = static_cast<int>(ResultCode::OUTPUT_INSUFFICIENT_SIZE);
  });
  return refused ? refused : insufficient;
}

int ANeuralNetworksExecution_getOutputOperandDimensions(ANeuralNetworksExecution* execution, int32_t index,
                                                        uint32_t* dimensions) {
  int insufficient = 0;
  const int refused = guarded([&] {
    require(execution, "getOutputOperandDimensions: execution");
    require(dimensions, "getOutputOperandDimensions");
    const host::Dims& dims = execution->execution->output_dims(index);
    if (dims.empty()) host::bad_data("output {}: a scalar has no dimensions", index);
    for (std::size_t i = 0; i < dims.size(); ++i) dimensions[i] = static_cast<uint32_t>(dims[i]);
    if (!execution->execution->output_fits(index))
      insufficient = static_cast<int>(ResultCode::OUTPUT_INSUFFICIENT_SIZE);
  });
  return refused ? refused : insufficient;
}

int ANeuralNetworksEvent_wait(ANeuralNetworksEvent* event) {
  if (!event) return guarded([] { require(nullptr, "wait: event"); });
  return event->result;
}

void ANeuralNetworksEvent_free(ANeuralNetworksEvent* event) {
  delete event;
}
