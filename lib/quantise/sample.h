// What a model is fed while it is measured.
#pragma once

#include <cstdint>
#include <vector>

namespace nnapi_convert::quantise {

using Bytes = std::vector<uint8_t>;

// One set of inputs.
struct Sample {
  std::vector<std::vector<int64_t>> shapes;  // of forward's tensors, in PyTorch's order
  std::vector<Bytes> inputs;                 // of NNAPI's model, in its order and in its order of axes
};

}  // namespace nnapi_convert::quantise
