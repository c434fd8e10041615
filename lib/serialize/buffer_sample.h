// SPDX-License-Identifier: BSD-3-Clause
// A sample as a buffer of version 4 holds it (lib/format/buffer_samples.h): inputs of the NNAPI model, and the values
// to which its outputs have to be near.
#pragma once

#include <cstdint>
#include <vector>

namespace nnapi_convert {

struct BufferSampleInput {
  std::vector<uint8_t> stored;  // the elements, in NNAPI's order; empty: they are made from `seed`
  uint32_t seed = 0;
  int32_t lowest = 0, highest = 0;  // as in the buffer: the bits of floats, or integers
};

struct BufferSampleOutput {
  float most_difference = 0, root_mean_square = 0;
  float lowest = 0, highest = 0;
  uint32_t step = 1;
  std::vector<uint8_t> kept;  // the elements number 0, step, 2 * step and so on
};

struct BufferSample {
  std::vector<int64_t> sizes;  // the sizes of all arguments, one after the other
  std::vector<BufferSampleInput> inputs;
  std::vector<BufferSampleOutput> outputs;
};

// Returns the words that the sample takes in the buffer.
size_t word_count(const BufferSample& sample);

}  // namespace nnapi_convert
