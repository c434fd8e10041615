// SPDX-License-Identifier: BSD-3-Clause
// The C interface: models.
#include "lib/host_runtime/api.h"

using namespace nnapi_convert::host;

namespace {

std::vector<uint32_t> indices(const uint32_t* first, uint32_t count, const char* what) {
  if (count != 0) require(first, what);
  return count == 0 ? std::vector<uint32_t>() : std::vector<uint32_t>(first, first + count);
}

// Refuses an extension: no device has extensions, so their operations and types have no codes.
[[noreturn]] void refuse_extension(const char* name) {
  bad_data("extension {}: no device has it", name);
}

}  // namespace

int ANeuralNetworksModel_create(ANeuralNetworksModel** model) {
  return guarded(__func__, [&] {
    require_result(model, "model");
    *model = new ANeuralNetworksModel{std::make_shared<Model>()};
  });
}

void ANeuralNetworksModel_free(ANeuralNetworksModel* model) {
  delete model;
}

int ANeuralNetworksModel_addOperand(ANeuralNetworksModel* model, const ANeuralNetworksOperandType* type) {
  return guarded(__func__, [&] {
    require(model, "addOperand: model");
    require(type, "addOperand: type");
    model->model->add_operand(*type);
  });
}

int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel* model, int32_t index, const void* buffer,
                                         size_t length) {
  return guarded(__func__, [&] {
    require(model, "setOperandValue: model");
    model->model->set_value(index, buffer, length, nullptr);
  });
}

int ANeuralNetworksModel_setOperandValueFromMemory(ANeuralNetworksModel* model, int32_t index,
                                                   const ANeuralNetworksMemory* memory, size_t offset, size_t length) {
  return guarded(__func__, [&] {
    require(model, "setOperandValueFromMemory: model");
    require(memory, "setOperandValueFromMemory: memory");
    const auto mapped = std::dynamic_pointer_cast<const MappedMemory>(memory->memory);
    if (!mapped) bad_data("operand {}: a memory from a descriptor can't hold a constant", index);
    if (!mapped->readable()) bad_data("operand {}: its memory is not readable", index);
    model->model->set_value(index, mapped->at(offset, length), length, mapped);
  });
}

int ANeuralNetworksModel_setOperandValueFromModel(ANeuralNetworksModel* model, int32_t index,
                                                  const ANeuralNetworksModel* value) {
  return guarded(__func__, [&] {
    require(model, "setOperandValueFromModel: model");
    require(value, "setOperandValueFromModel: value");
    model->model->set_model(index, value->model);
  });
}

int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(ANeuralNetworksModel* model, int32_t index,
                                                             const ANeuralNetworksSymmPerChannelQuantParams* params) {
  return guarded(__func__, [&] {
    require(model, "setOperandSymmPerChannelQuantParams: model");
    require(params, "setOperandSymmPerChannelQuantParams: parameters");
    model->model->set_channel_quantization(index, *params);
  });
}

int ANeuralNetworksModel_addOperation(ANeuralNetworksModel* model, int32_t type, uint32_t inputCount,
                                      const uint32_t* inputs, uint32_t outputCount, const uint32_t* outputs) {
  return guarded(__func__, [&] {
    require(model, "addOperation: model");
    model->model->add_operation(type, indices(inputs, inputCount, "addOperation: inputs"),
                                indices(outputs, outputCount, "addOperation: outputs"));
  });
}

int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel* model, uint32_t inputCount,
                                                  const uint32_t* inputs, uint32_t outputCount,
                                                  const uint32_t* outputs) {
  return guarded(__func__, [&] {
    require(model, "identifyInputsAndOutputs: model");
    model->model->identify_inputs_and_outputs(indices(inputs, inputCount, "identifyInputsAndOutputs: inputs"),
                                              indices(outputs, outputCount, "identifyInputsAndOutputs: outputs"));
  });
}

int ANeuralNetworksModel_relaxComputationFloat32toFloat16(ANeuralNetworksModel* model, bool allow) {
  return guarded(__func__, [&] {
    require(model, "relaxComputationFloat32toFloat16: model");
    model->model->relax_to_float16(allow);
  });
}

int ANeuralNetworksModel_finish(ANeuralNetworksModel* model) {
  return guarded(__func__, [&] {
    require(model, "finish: model");
    model->model->finish();
  });
}

int ANeuralNetworksModel_getSupportedOperationsForDevices(const ANeuralNetworksModel* model,
                                                          const ANeuralNetworksDevice* const* devices,
                                                          uint32_t deviceCount, bool* supported) {
  return guarded(__func__, [&] {
    require(model, "getSupportedOperationsForDevices: model");
    require(supported, "getSupportedOperationsForDevices: result");
    const std::vector<const Device*> chosen = chosen_devices(devices, deviceCount);
    if (!model->model->finished()) {
      fail(nnapi_convert::ResultCode::BAD_STATE, "getSupportedOperationsForDevices: the model is not finished");
    }
    for (const Operation& operation : model->model->operations()) {
      bool taken = false;
      for (const Device* device : chosen) taken = taken || device->refusal(*model->model, operation).empty();
      supported[operation.index] = taken;  // in the order of addition
    }
  });
}

int ANeuralNetworksModel_getExtensionOperandType(ANeuralNetworksModel* model, const char* extensionName,
                                                 uint16_t /*operandCodeWithinExtension*/, int32_t* type) {
  return guarded(__func__, [&] {
    require(model, "getExtensionOperandType: model");
    require(extensionName, "getExtensionOperandType: name");
    require(type, "getExtensionOperandType");
    refuse_extension(extensionName);
  });
}

int ANeuralNetworksModel_getExtensionOperationType(ANeuralNetworksModel* model, const char* extensionName,
                                                   uint16_t /*operationCodeWithinExtension*/, int32_t* type) {
  return guarded(__func__, [&] {
    require(model, "getExtensionOperationType: model");
    require(extensionName, "getExtensionOperationType: name");
    require(type, "getExtensionOperationType");
    refuse_extension(extensionName);
  });
}

int ANeuralNetworksModel_setOperandExtensionData(ANeuralNetworksModel* model, int32_t index, const void* data,
                                                 size_t length) {
  return guarded(__func__, [&] {
    require(model, "setOperandExtensionData: model");
    if (length != 0) require(data, "setOperandExtensionData: data");
    model->model->refuse_extension_data(index);
  });
}
