// The expressions of a version 2 buffer: sizes that depend on those of the arguments.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/shim/buffer_layout.h"
#include "lib/shim/nnapi_shim.h"

namespace nnapi_shim {

// Checks that each names arguments and axes that exist and earlier expressions only.
bool check_expressions(const int32_t* words, const BufferLayout& layout, nnapi_shim_error* error);

// The values for arguments whose ranks and sizes were checked. NNAPI_SHIM_BAD_ARGUMENT where one does not fit into 64
// bits or a divisor is not more than 0.
int evaluate_expressions(const int32_t* words, const BufferLayout& layout, const nnapi_shim_shape* arguments,
                         std::vector<int64_t>* values, nnapi_shim_error* error);

// "[1, 3, 224, 224], [2]" for error sentences, cut to `room`.
struct ShapesText {
  explicit ShapesText(const nnapi_shim_shape* arguments, uint32_t count);
  char text[192];
};

}  // namespace nnapi_shim
