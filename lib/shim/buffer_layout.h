// Where the sections of a version 2 buffer are: the first of the checks that a buffer has to pass, after which walking
// over the words stays within them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/shim/model_view.h"
#include "lib/shim/nnapi_shim.h"

namespace nnapi_shim {

// Of one model: counts, and the word at which each section starts.
struct ModelLayout {
  uint32_t operand_count = 0, value_count = 0, operation_count = 0, input_count = 0, output_count = 0;
  size_t operands = 0, values = 0, operations = 0, dims = 0, channel_scales = 0, value_data = 0, arguments = 0,
         inputs = 0, outputs = 0;
  size_t names = 0, sources = 0;  // in the text's table: of the operands, of the operations; 0 if stripped
};

struct BufferLayout {
  uint32_t argument_count = 0, expression_count = 0, patch_count = 0;
  size_t arguments = 0, expressions = 0, patches = 0;
  std::vector<ModelLayout> models;
  size_t models_end = 0;
  size_t text = 0, text_bytes = 0;  // the word at which the bytes start
};

// CRC-32 of at least kHeaderWords words, the checksum's own taken as 0.
uint32_t buffer_checksum(const int32_t* words, size_t word_count);

// Checks header, checksum, every count and that the sections fill the words exactly. Nothing else: indices within them
// may be wrong. False where something is wrong.
bool find_layout(const int32_t* words, size_t word_count, BufferLayout* layout, nnapi_shim_error* error);

}  // namespace nnapi_shim
