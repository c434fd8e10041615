// SPDX-License-Identifier: BSD-3-Clause
// Writes an nnapi::Model as the compact buffer (lib/format/buffer_format.h, schemas/nnapi_buffer.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert {

// A word whose value is an expression over input sizes. It is 0 in the buffer; the device computes it before it builds
// the model.
struct WordPatch {
  size_t word;
  Dim value;
};

struct SerializedModel {
  std::vector<int32_t> words;
  std::vector<WordPatch> patches;        // in ascending order of words
  std::vector<nnapi::Constant> buffers;  // the numbered buffers, not evaluated yet
  // By buffer: the scales of a float32 weight that is stored as int8; null for other weights.
  std::vector<std::shared_ptr<const nnapi::ChannelScales>> scales = {};

  bool has_int8() const;
};

// The model has to be valid. Throws ConvertError (kNotConvertible) for a model past the format's limits.
SerializedModel write_buffer(const nnapi::Model& model);
// Returns sizes and flexible words as text for dumps.
std::string to_text(const SerializedModel& serialized);

}  // namespace nnapi_convert
