// SPDX-License-Identifier: BSD-3-Clause
// Maps the data of tensors from a file, so that they take memory only once they are read.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Allocator.h>

#include <cstdint>
#include <memory>

#include "lib/base/source_check.h"

namespace nnapi_convert {

// The size from which on records are mapped: a mapping costs about as much as copying so many bytes.
constexpr uint64_t kLeastMappedBytes = uint64_t{64} << 10;

// Returns whether data at `position` of a file are large enough for a mapping and aligned like LibTorch's tensors.
bool can_map(uint64_t position, uint64_t bytes);

// Maps `bytes` of the open file from `position` on, writable and private to this process. Returns null memory if the
// system refuses. The mapping ends when the memory is released.
at::DataPtr map_memory(int file, uint64_t position, uint64_t bytes);

// Maps as map_memory() does, and adds a check of the bytes to `checks`, also if the system refuses the mapping.
// `problem` is the message of its error. Code that reads all bytes in order performs the check.
at::DataPtr map_unchecked(int file, uint64_t position, uint64_t bytes, uint32_t checksum, const std::string& problem,
                          SourceChecks& checks);

// Returns the check of the mapped bytes of the tensor's storage; null if they need none.
std::shared_ptr<SourceCheck> check_of(const at::Tensor& tensor);

}  // namespace nnapi_convert
