// Writes an nnapi::Model as version 2 of the compact buffer, for the shim (lib/format/buffer_format_v2.h,
// schemas/nnapi_buffer.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert {

struct ShimBufferRequest {
  const nnapi::Model& model;
  std::vector<Dims> arguments = {};     // the sizes of forward's tensors, in PyTorch's order
  std::vector<std::string> names = {};  // of the arguments
  int feature_level = 1;                // the least that runs the model
  PreferenceCode preference = PreferenceCode::SUSTAINED_SPEED;
  bool relax_fp16 = false;
  bool keeps_names = true;  // names and source lines, which only messages show
};

struct PlacedWeight {
  nnapi::Constant value;  // not evaluated yet
  uint64_t offset;        // into the weights
};

struct ShimBuffer {
  std::vector<int32_t> words;         // complete once sealed
  std::vector<PlacedWeight> weights;  // in ascending order of offsets
  uint64_t weight_bytes = 0;
};

// The model has to be valid. Throws ConvertError (kNotConvertible) for a model past the format's limits.
ShimBuffer write_shim_buffer(const ShimBufferRequest& request);

// For dumps: sizes.
std::string to_text(const ShimBuffer& buffer);

// Evaluates the weights one by one into `out`, which has weight_bytes, lets go of them, and puts the checksums into the
// words.
void seal(ShimBuffer& buffer, uint8_t* out);

}  // namespace nnapi_convert
