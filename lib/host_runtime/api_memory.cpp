// SPDX-License-Identifier: BSD-3-Clause
// The C interface: memories and their descriptors.
#include "lib/host_runtime/api.h"

using namespace nnapi_convert::host;

int ANeuralNetworksMemory_createFromFd(size_t size, int protect, int fd, size_t offset,
                                       ANeuralNetworksMemory** memory) {
  return guarded(__func__, [&] {
    require_result(memory, "memory");
    *memory = new ANeuralNetworksMemory{std::make_shared<MappedMemory>(size, protect, fd, offset)};
  });
}

int ANeuralNetworksMemory_createFromAHardwareBuffer(const AHardwareBuffer* ahwb, ANeuralNetworksMemory** memory) {
  return guarded(__func__, [&] {
    require_result(memory, "memory");
    require(ahwb, "createFromAHardwareBuffer: buffer");
    fail(nnapi_convert::ResultCode::BAD_DATA, "createFromAHardwareBuffer: this system has no such buffers");
  });
}

int ANeuralNetworksMemory_createFromDesc(const ANeuralNetworksMemoryDesc* desc, ANeuralNetworksMemory** memory) {
  return guarded(__func__, [&] {
    require_result(memory, "memory");
    require(desc, "createFromDesc: descriptor");
    desc->descriptor.require_finished("createFromDesc");
    *memory = new ANeuralNetworksMemory{std::make_shared<DeviceMemory>(desc->descriptor)};
  });
}

int ANeuralNetworksMemory_copy(const ANeuralNetworksMemory* src, const ANeuralNetworksMemory* dst) {
  return guarded(__func__, [&] {
    require(src, "memory copy: source");
    require(dst, "memory copy: target");
    copy(*src->memory, *dst->memory);
  });
}

void ANeuralNetworksMemory_free(ANeuralNetworksMemory* memory) {
  delete memory;
}

int ANeuralNetworksMemoryDesc_create(ANeuralNetworksMemoryDesc** desc) {
  return guarded(__func__, [&] {
    require_result(desc, "memory descriptor");
    *desc = new ANeuralNetworksMemoryDesc;
  });
}

void ANeuralNetworksMemoryDesc_free(ANeuralNetworksMemoryDesc* desc) {
  delete desc;
}

int ANeuralNetworksMemoryDesc_addInputRole(ANeuralNetworksMemoryDesc* desc,
                                           const ANeuralNetworksCompilation* compilation, uint32_t index,
                                           float frequency) {
  return guarded(__func__, [&] {
    require(desc, "addInputRole: memory descriptor");
    require(compilation, "addInputRole: compilation");
    desc->descriptor.add_role(compilation->compilation, Direction::kInput, index, frequency);
  });
}

int ANeuralNetworksMemoryDesc_addOutputRole(ANeuralNetworksMemoryDesc* desc,
                                            const ANeuralNetworksCompilation* compilation, uint32_t index,
                                            float frequency) {
  return guarded(__func__, [&] {
    require(desc, "addOutputRole: memory descriptor");
    require(compilation, "addOutputRole: compilation");
    desc->descriptor.add_role(compilation->compilation, Direction::kOutput, index, frequency);
  });
}

int ANeuralNetworksMemoryDesc_setDimensions(ANeuralNetworksMemoryDesc* desc, uint32_t rank,
                                            const uint32_t* dimensions) {
  return guarded(__func__, [&] {
    require(desc, "setDimensions: memory descriptor");
    if (rank > 0) require(dimensions, "setDimensions: dimensions");
    desc->descriptor.set_dimensions(rank, dimensions);
  });
}

int ANeuralNetworksMemoryDesc_finish(ANeuralNetworksMemoryDesc* desc) {
  return guarded(__func__, [&] {
    require(desc, "finish: memory descriptor");
    desc->descriptor.finish();
  });
}
