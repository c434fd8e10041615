// SPDX-License-Identifier: BSD-3-Clause
// Finds the sections of a buffer of versions 2, 3, 4, 6 and 7. This is the first check of a buffer; after it, a walk
// over the sections stays within the words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/shim/model_view.h"
#include "lib/shim/nnapi_shim.h"

namespace nnapi_shim {

// The counts of one model, and the word at which each of its sections starts.
struct ModelLayout {
  uint32_t operand_count = 0, value_count = 0, operation_count = 0, input_count = 0, output_count = 0;
  size_t operands = 0, values = 0, operations = 0, dims = 0, channel_scales = 0, value_data = 0, arguments = 0,
         inputs = 0, outputs = 0;
  size_t names = 0, sources = 0;  // tables of text offsets, of the operands and of the operations; 0 if stripped
};

struct BufferLayout {
  uint32_t argument_count = 0, expression_count = 0, patch_count = 0;
  size_t arguments = 0, expressions = 0, patches = 0;
  std::vector<ModelLayout> models;
  size_t models_end = 0;
  size_t text = 0, text_bytes = 0;  // the word at which the text starts, and its bytes
  std::vector<size_t> samples;      // the word at which each sample starts; none before version 4
  std::vector<size_t> conditions;   // the word at which each condition starts; none before version 7
};

// Returns the CRC-32 of at least kHeaderWords words; the word of the checksum counts as 0.
uint32_t buffer_checksum(const int32_t* words, size_t word_count);

// Checks the header, the checksum and every count, and that the sections fill the words exactly. Returns false at the
// first error. Does not check the content of the sections: indices there may still be wrong.
bool find_layout(const int32_t* words, size_t word_count, BufferLayout* layout, nnapi_shim_error* error);

}  // namespace nnapi_shim
