// Buffers of version 1 (lib/format/buffer_format.h), rendered in version 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/shim/nnapi_shim.h"

namespace nnapi_shim {

struct RenderedBuffer {
  std::vector<int32_t> words;         // of version 2
  std::vector<uint32_t> origin;       // of each the word of version 1 that it says
  uint64_t weight_bytes = 0;          // as if the numbered buffers' pieces lay one after the other
  std::vector<const void*> numbered;  // where the bytes of each weight value are, in turn
};

// Each input of the model becomes an argument of its sizes. False where something is wrong; what version 2 checks as
// well is left to that.
bool render_version_1(const int32_t* words, size_t word_count, const nnapi_shim_buffer* buffers, size_t buffer_count,
                      RenderedBuffer* rendered, nnapi_shim_error* error);

}  // namespace nnapi_shim
