// SPDX-License-Identifier: BSD-3-Clause
// Reads the index of a package (lib/format/package_format.h): several buffers of one network with shared weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/shim/nnapi_shim.h"

namespace nnapi_shim {

struct PackageEntry {
  std::string name;
  size_t first_word = 0, word_count = 0;        // its buffer's words
  uint64_t weight_begin = 0, weight_bytes = 0;  // its part of the weights
};

// Returns whether the words are a package and not one buffer.
bool is_package(const void* words, size_t word_count);

// Checks the header, the checksum, and that buffers and weights lie within `words` and `weight_bytes`.
// ModelBuffer::parse checks the buffers' own content. Returns false, with NNAPI_SHIM_BAD_MODEL in `error`, if a check
// fails.
bool read_package(const std::vector<int32_t>& words, uint64_t weight_bytes, std::vector<PackageEntry>* entries,
                  nnapi_shim_error* error);

}  // namespace nnapi_shim
