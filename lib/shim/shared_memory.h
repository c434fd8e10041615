// SPDX-License-Identifier: BSD-3-Clause
// Memory that the app shares with NNAPI's drivers, for inputs and outputs. nnapi_shim.h describes the functions.
#pragma once

#include <cstddef>

#include "lib/shim/nnapi_library.h"
#include "lib/shim/nnapi_shim.h"

struct nnapi_shim_memory {
 public:
  // Takes ownership of `memory`, which `library` made.
  nnapi_shim_memory(const nnapi_shim::NnapiLibrary& library, ANeuralNetworksMemory* memory, size_t bytes)
      : library_(library), memory_(memory), bytes_(bytes) {}
  ~nnapi_shim_memory() { library_.ANeuralNetworksMemory_free(memory_); }
  nnapi_shim_memory(const nnapi_shim_memory&) = delete;
  nnapi_shim_memory& operator=(const nnapi_shim_memory&) = delete;

  const nnapi_shim::NnapiLibrary& library() const { return library_; }
  const ANeuralNetworksMemory* handle() const { return memory_; }
  size_t bytes() const { return bytes_; }

 private:
  const nnapi_shim::NnapiLibrary& library_;
  ANeuralNetworksMemory* const memory_;
  const size_t bytes_;
};

namespace nnapi_shim {

// These two return NNAPI_SHIM_OK, NNAPI_SHIM_TOO_OLD if NNAPI lacks the function, or NNAPI_SHIM_REFUSED.
int share_descriptor(const NnapiLibrary& library, int fd, size_t offset, size_t bytes, nnapi_shim_memory** memory,
                     nnapi_shim_error* error);
int share_hardware_buffer(const NnapiLibrary& library, const AHardwareBuffer* buffer, size_t bytes,
                          nnapi_shim_memory** memory, nnapi_shim_error* error);

// Returns the place as a buffer. Shared memory has no address: its object's address stands for it, so that checks of
// buffers find one.
nnapi_shim_buffer buffer_of(const nnapi_shim_place& place);

// Checks that places with a memory lie within it, and that `library` made the memory. `what`: input or output.
int check_places(const NnapiLibrary& library, const nnapi_shim_place* places, uint32_t count, const char* what,
                 nnapi_shim_error* error);

}  // namespace nnapi_shim
