// SPDX-License-Identifier: BSD-3-Clause
// Writes an nnapi::Model as version 2 to 7 of the compact buffer, for the shim (lib/format/buffer_format_v2.h,
// schemas/nnapi_buffer.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/nnapi/model.h"
#include "lib/serialize/buffer_sample.h"
#include "lib/types/size_condition.h"

namespace nnapi_convert {

// A condition on the sizes of the arguments, with the words for an error: "input x: size 1:" (the number found follows)
// and "64 or more".
struct BufferCondition {
  SizeCondition sizes;
  std::string subject, needed;
};

struct ShimBufferRequest {
  const nnapi::Model& model;
  std::vector<Dims> arguments = {};     // the sizes of forward's tensors, in PyTorch's order
  std::vector<std::string> names = {};  // the names of the arguments
  int feature_level = 1;                // the lowest level that runs the model
  PreferenceCode preference = PreferenceCode::SUSTAINED_SPEED;
  bool relax_fp16 = false;
  bool keeps_names = true;                       // keeps names and source lines, which only messages show
  std::vector<BufferSample> samples = {};        // with samples, the buffer has version 4 or later
  std::vector<BufferCondition> conditions = {};  // with conditions, it has version 7
};

struct PlacedWeight {
  nnapi::Constant value;  // not evaluated yet
  uint64_t offset;        // byte offset in the weights
};

// A word of the buffer that holds the low half of a weight's offset; the high half follows.
struct WeightWord {
  size_t word;
  size_t weight;  // number
};

struct ShimBuffer {
  std::vector<int32_t> words;         // without the checksums, which seal() writes
  std::vector<PlacedWeight> weights;  // in ascending order of offsets
  std::vector<WeightWord> weight_words;
  uint64_t weight_bytes = 0;
  size_t samples = 0;
};

// The model has to be valid. Throws ConvertError (kNotConvertible) for a model past the format's limits.
ShimBuffer write_shim_buffer(const ShimBufferRequest& request);

// Writes a number into two words, its low half first.
inline void put_long(int32_t* words, uint64_t value) {
  words[0] = static_cast<int32_t>(static_cast<uint32_t>(value));
  words[1] = static_cast<int32_t>(static_cast<uint32_t>(value >> 32));
}

// Returns sizes as text for dumps.
std::string to_text(const ShimBuffer& buffer);

// Evaluates and writes the weights one by one: all weight_bytes, including the zeros between the weights. With
// `releases` frees each weight after writing it.
void write_weights(ShimBuffer& buffer, bool releases, const nnapi::ByteSink& sink);

// Writes the CRC-32 of the weights and the words' own CRC-32 into the words.
void seal(int32_t* words, size_t count, uint32_t weight_checksum);

}  // namespace nnapi_convert
