// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/shared_memory.h"

#include <sys/mman.h>

#include "lib/shim/failure.h"
#include "lib/shim/nnapi_names.h"

namespace nnapi_shim {
namespace {

int finish(const NnapiLibrary& library, const char* function, int code, ANeuralNetworksMemory* made, size_t bytes,
           nnapi_shim_memory** memory, nnapi_shim_error* error) {
  if (code != 0 || !made) {
    return fail_with(error, NNAPI_SHIM_REFUSED, code, "NNAPI does not take the memory of %zu bytes: %s answers %s",
                     bytes, function, result_name(code));
  }
  *memory = new nnapi_shim_memory(library, made, bytes);
  return NNAPI_SHIM_OK;
}

int fail_too_old(const NnapiLibrary& library, const char* function, nnapi_shim_error* error) {
  return fail(error, NNAPI_SHIM_TOO_OLD,
              "this device's NNAPI has feature level %u and no function %s; run with plain memory",
              library.feature_level, function);
}

}  // namespace

int share_descriptor(const NnapiLibrary& library, int fd, size_t offset, size_t bytes, nnapi_shim_memory** memory,
                     nnapi_shim_error* error) {
  const char* function = "ANeuralNetworksMemory_createFromFd";
  const bool has_all = library.ANeuralNetworksMemory_createFromFd && library.ANeuralNetworksMemory_free &&
                       library.ANeuralNetworksExecution_setInputFromMemory &&
                       library.ANeuralNetworksExecution_setOutputFromMemory;
  if (!has_all) return fail_too_old(library, function, error);
  ANeuralNetworksMemory* made = nullptr;
  const int code = library.ANeuralNetworksMemory_createFromFd(bytes, PROT_READ | PROT_WRITE, fd, offset, &made);
  return finish(library, function, code, made, bytes, memory, error);
}

int share_hardware_buffer(const NnapiLibrary& library, const AHardwareBuffer* buffer, size_t bytes,
                          nnapi_shim_memory** memory, nnapi_shim_error* error) {
  const char* function = "ANeuralNetworksMemory_createFromAHardwareBuffer";
  const bool has_all = library.ANeuralNetworksMemory_createFromAHardwareBuffer && library.ANeuralNetworksMemory_free &&
                       library.ANeuralNetworksExecution_setInputFromMemory &&
                       library.ANeuralNetworksExecution_setOutputFromMemory;
  if (!has_all) return fail_too_old(library, function, error);
  ANeuralNetworksMemory* made = nullptr;
  const int code = library.ANeuralNetworksMemory_createFromAHardwareBuffer(buffer, &made);
  return finish(library, function, code, made, bytes, memory, error);
}

nnapi_shim_buffer buffer_of(const nnapi_shim_place& place) {
  const auto* memory = reinterpret_cast<const char*>(place.memory);
  return {memory ? const_cast<char*>(memory) : place.data, place.bytes};
}

int check_places(const NnapiLibrary& library, const nnapi_shim_place* places, uint32_t count, const char* what,
                 nnapi_shim_error* error) {
  for (uint32_t i = 0; i < count; ++i) {
    const nnapi_shim_memory* memory = places[i].memory;
    if (!memory) continue;
    if (&memory->library() != &library) {
      return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "%s %u: its memory was made for a model on another NNAPI library",
                  what, i);
    }
    if (places[i].offset > memory->bytes() || places[i].bytes > memory->bytes() - places[i].offset) {
      return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "%s %u: %zu bytes at byte %zu of a memory of %zu bytes", what, i,
                  places[i].bytes, places[i].offset, memory->bytes());
    }
  }
  return NNAPI_SHIM_OK;
}

}  // namespace nnapi_shim
