// SPDX-License-Identifier: BSD-3-Clause
// Maps the data of tensors from a file, so that they take memory only once they are read.
#pragma once

#include <c10/core/Allocator.h>

#include <cstdint>

namespace nnapi_convert {

// The size from which on records are mapped: a mapping costs about as much as copying so many bytes.
constexpr uint64_t kLeastMappedBytes = uint64_t{64} << 10;

// Returns whether data at `position` of a file are worth a mapping, and lie as LibTorch aligns tensors.
bool can_map(uint64_t position, uint64_t bytes);

// Maps `bytes` of the open file from `position` on, writable and private to this process. Returns null memory if the
// system refuses. The mapping ends when the memory is released.
at::DataPtr map_memory(int file, uint64_t position, uint64_t bytes);

}  // namespace nnapi_convert
