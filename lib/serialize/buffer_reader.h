// SPDX-License-Identifier: BSD-3-Clause
// Reads a compact buffer from any source. Checks every count, offset and index with 64-bit arithmetic.
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
  std::vector<float> channel_scales = {};  // from version 2 on; for a float operand, those of its int8 weights
};

struct BufferValue {
  int32_t operand;
  int32_t source;              // a buffer_format::ValueSource
  std::vector<uint8_t> bytes;  // the value, if it is immediate
  uint32_t buffer = 0;
  uint64_t offset = 0, length = 0;  // from version 2 on: for a weight, its place in the model's weights; for a
                                    // subgraph `offset` is its number
};

struct BufferOperation {
  int32_t code;
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
};

// A sample of version 4 or later, without its elements.
struct BufferSampleSummary {
  std::vector<int32_t> sizes;  // the sizes of all arguments, one after the other
  size_t words = 0;
};

struct BufferModel {
  std::vector<BufferOperand> operands;
  std::vector<BufferValue> values;
  std::vector<BufferOperation> operations;
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
  std::vector<BufferModel> subgraphs;  // only in the main model, from version 2 on: all subgraphs, numbered from 1
  std::vector<BufferSampleSummary> samples = {};  // only in the main model, from version 4 on
};

// Reads version 1. Throws ConvertError (kBadFile) with the word's position, the value found and the value needed.
BufferModel read_buffer(const int32_t* words, size_t count);
// Reads versions 2, 3, 4, 6 and 7 without the bytes of values. Throws as read_buffer() does.
BufferModel read_shim_buffer(const int32_t* words, size_t count);

}  // namespace nnapi_convert
