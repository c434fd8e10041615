// SPDX-License-Identifier: BSD-3-Clause
// The inputs of a model while it is measured.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/base/large_pages.h"

namespace nnapi_convert::quantise {

// The bytes of one tensor.
using Bytes = std::vector<uint8_t, LargePages<uint8_t>>;

// One set of inputs.
struct Sample {
  std::vector<std::vector<int64_t>> shapes;  // the sizes of forward's tensors, in PyTorch's order
  std::vector<Bytes> inputs;                 // the inputs of NNAPI's model, in its order and in its order of axes
};

}  // namespace nnapi_convert::quantise
