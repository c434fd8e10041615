// SPDX-License-Identifier: BSD-3-Clause
// The fake's devices, memories and models.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "tests/shim/fake_nnapi_state.h"

using namespace fake_nnapi;

namespace {

size_t bytes_of(const ANeuralNetworksOperandType& type) {
  size_t bytes = type.type == 3 || type.type == 4 || type.type <= 2 ? 4 : 1;
  for (uint32_t i = 0; i < type.dimensionCount; ++i) bytes *= type.dimensions[i];
  return bytes;
}

}  // namespace

int64_t ANeuralNetworks_getRuntimeFeatureLevel() {
  count(__func__);
  return settings.level_code;
}

int ANeuralNetworks_getDeviceCount(uint32_t* number) {
  ENTER();
  *number = static_cast<uint32_t>(devices.size());
  return kNoError;
}

int ANeuralNetworks_getDevice(uint32_t index, ANeuralNetworksDevice** device) {
  ENTER();
  *device = devices.at(index).get();
  return kNoError;
}

int ANeuralNetworksDevice_getName(const ANeuralNetworksDevice* device, const char** name) {
  ENTER();
  *name = device->setting.name.c_str();
  return kNoError;
}

int ANeuralNetworksDevice_getVersion(const ANeuralNetworksDevice*, const char** version) {
  ENTER();
  *version = "fake 1";
  return kNoError;
}

int ANeuralNetworksDevice_getFeatureLevel(const ANeuralNetworksDevice* device, int64_t* level) {
  ENTER();
  *level = device->setting.level;
  return kNoError;
}

int ANeuralNetworksDevice_getType(const ANeuralNetworksDevice* device, int32_t* type) {
  ENTER();
  *type = device->setting.type;
  return kNoError;
}

int ANeuralNetworksMemory_createFromFd(size_t size, int protect, int fd, size_t offset,
                                       ANeuralNetworksMemory** memory) {
  ENTER();
  const off64_t end = lseek64(fd, 0, SEEK_END);
  check(end >= 0 && static_cast<uint64_t>(end) >= uint64_t{offset} + size, __func__, "the file is too short");
  // As Android's does: by an off_t, which has 32 bits in a process of 32 bits.
  void* data = mmap(nullptr, size, protect, MAP_SHARED, fd, static_cast<off_t>(offset));
  check(data != MAP_FAILED, __func__, "the descriptor can't be mapped");
  *memory = made(new ANeuralNetworksMemory{size, static_cast<uint8_t*>(data)});
  return kNoError;
}
int ANeuralNetworksMemory_createFromAHardwareBuffer(const AHardwareBuffer* buffer, ANeuralNetworksMemory** memory) {
  ENTER();
  void* data = mmap(nullptr, buffer->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, buffer->fd, 0);
  check(data != MAP_FAILED, __func__, "the buffer can't be mapped");
  *memory = made(new ANeuralNetworksMemory{buffer->bytes, static_cast<uint8_t*>(data)});
  return kNoError;
}
ANeuralNetworksMemory::~ANeuralNetworksMemory() {
  if (data != MAP_FAILED) munmap(data, size);
}
void ANeuralNetworksMemory_free(ANeuralNetworksMemory* memory) {
  free_object(__func__, memory);
}

int ANeuralNetworksModel_create(ANeuralNetworksModel** model) {
  ENTER();
  *model = made(new ANeuralNetworksModel);
  return kNoError;
}

void ANeuralNetworksModel_free(ANeuralNetworksModel* model) {
  bool is_used = false;
  if (model)
    RECORD(is_used = std::any_of(live_objects.begin(), live_objects.end(),
                                 [&](const void* object) { return object == model && model->users > 0; }));
  // The API lets models go before what is made of them; the shim does not.
  check(!is_used, __func__, "the model is in use");
  free_object(__func__, model);
}

int ANeuralNetworksModel_addOperand(ANeuralNetworksModel* model, const ANeuralNetworksOperandType* type) {
  ENTER();
  check(!model->finished, __func__, "the model is finished");
  check((type->dimensionCount > 0) == (type->dimensions != nullptr), __func__, "dimensions without a rank");
  model->operand_bytes.push_back(bytes_of(*type));
  return kNoError;
}

int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel* model, int32_t index, const void* buffer,
                                         size_t length) {
  ENTER();
  const auto operand = static_cast<size_t>(index);
  check(operand < model->operand_bytes.size(), __func__, "no such operand");
  if (!buffer) {
    check(length == 0, __func__, "null with a length");
    RECORD(++records.omitted_values);
    return kNoError;
  }
  check(length == model->operand_bytes.at(operand), __func__, "wrong length");
  const auto* bytes = static_cast<const uint8_t*>(buffer);
  RECORD(++records.values_by_pointer; records.values.emplace_back(bytes, bytes + length));
  return kNoError;
}

int ANeuralNetworksModel_setOperandValueFromMemory(ANeuralNetworksModel* model, int32_t index,
                                                   const ANeuralNetworksMemory* memory, size_t offset, size_t length) {
  ENTER();
  const bool is_within = memory->data != MAP_FAILED && offset + length <= memory->size;
  check(is_within, __func__, "outside of the memory");
  check(length == model->operand_bytes.at(static_cast<size_t>(index)), __func__, "wrong length");
  RECORD(++records.values_from_memory);
  if (is_within) RECORD(records.values.emplace_back(memory->data + offset, memory->data + offset + length));
  return kNoError;
}

int ANeuralNetworksModel_setOperandValueFromModel(ANeuralNetworksModel* model, int32_t,
                                                  const ANeuralNetworksModel* value) {
  ENTER();
  check(value && value->finished, __func__, "the other model is not finished");
  if (!value) return kBadData;
  auto* other = const_cast<ANeuralNetworksModel*>(value);
  RECORD(++other->users; ++records.values_from_model);
  model->refers_to.push_back(other);
  return kNoError;
}

int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(ANeuralNetworksModel*, int32_t,
                                                             const ANeuralNetworksSymmPerChannelQuantParams* params) {
  ENTER();
  check(params->scaleCount > 0 && params->scales[params->scaleCount - 1] > 0, __func__, "no scales");
  RECORD(++records.channel_scales);
  return kNoError;
}

int ANeuralNetworksModel_addOperation(ANeuralNetworksModel* model, int32_t type, uint32_t inputCount,
                                      const uint32_t* inputs, uint32_t outputCount, const uint32_t* outputs) {
  ENTER();
  for (uint32_t i = 0; i < inputCount; ++i) check(inputs[i] < model->operand_bytes.size(), __func__, "no such input");
  for (uint32_t i = 0; i < outputCount; ++i) {
    check(outputs[i] < model->operand_bytes.size(), __func__, "no such output");
  }
  model->operations.push_back(type);
  return kNoError;
}

int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel* model, uint32_t inputCount,
                                                  const uint32_t* inputs, uint32_t outputCount,
                                                  const uint32_t* outputs) {
  ENTER();
  model->inputs.assign(inputs, inputs + inputCount);
  model->outputs.assign(outputs, outputs + outputCount);
  return kNoError;
}

int ANeuralNetworksModel_relaxComputationFloat32toFloat16(ANeuralNetworksModel*, bool allow) {
  ENTER();
  RECORD(records.relaxed = allow);
  return kNoError;
}

int ANeuralNetworksModel_finish(ANeuralNetworksModel* model) {
  ENTER();
  check(!model->outputs.empty(), __func__, "no outputs");
  model->finished = true;
  return kNoError;
}

int ANeuralNetworksModel_getSupportedOperationsForDevices(const ANeuralNetworksModel* model,
                                                          const ANeuralNetworksDevice* const* chosen,
                                                          uint32_t deviceCount, bool* supported) {
  ENTER();
  check(model->finished, __func__, "the model is not finished");
  check(deviceCount > 0, __func__, "no devices");
  for (size_t i = 0; i < model->operations.size(); ++i) {
    supported[i] = std::any_of(chosen, chosen + deviceCount, [&](const ANeuralNetworksDevice* device) {
      const std::vector<int>& refused = device->setting.refuses;
      return std::find(refused.begin(), refused.end(), model->operations[i]) == refused.end();
    });
  }
  return kNoError;
}
