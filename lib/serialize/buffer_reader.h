// Reads a compact buffer, from any source: every count, offset and index is checked, with 64-bit
// arithmetic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nnapi_convert {

struct BufferOperand {
  int32_t type;
  std::vector<uint32_t> dims;  // 0: written on the device
  float scale;
  int32_t zero_point;
  int32_t channel_axis = -1;               // -1: no scales per channel
  std::vector<float> channel_scales = {};  // of version 2
};

struct BufferValue {
  int32_t operand;
  int32_t source;                               // a buffer_format::ValueSource
  std::vector<uint8_t> bytes;                   // of an immediate value
  uint32_t buffer = 0, offset = 0, length = 0;  // of version 2 the offset of a subgraph only, its number
};

struct BufferOperation {
  int32_t code;
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
};

struct BufferModel {
  std::vector<BufferOperand> operands;
  std::vector<BufferValue> values;
  std::vector<BufferOperation> operations;
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
  std::vector<BufferModel> subgraphs;  // of version 2: all of them, by number, from 1 on; in the main model only
};

// Throws ConvertError (kBadFile) with the word's position, what was found and what is needed.
BufferModel read_buffer(const int32_t* words, size_t count);
// The same for version 2, without the bytes of values.
BufferModel read_shim_buffer(const int32_t* words, size_t count);

}  // namespace nnapi_convert
