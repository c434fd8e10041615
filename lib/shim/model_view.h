// SPDX-License-Identifier: BSD-3-Clause
// A model as the shim builds it: the checked content of a buffer, with flexible sizes filled in. All pointers go into
// memory that `ModelView` keeps alive, or into the weights.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/format/buffer_format_v2.h"

namespace nnapi_shim {

namespace format = nnapi_convert::buffer_format_v2;

struct OperandView {
  int32_t type = 0;  // ANEURALNETWORKS_*
  uint32_t rank = 0;
  const uint32_t* dims = nullptr;  // `rank` sizes
  float scale = 0;
  int32_t zero_point = 0;
  int32_t channel_axis = -1;  // -1: no scales per channel; a float operand has those of its int8 weights
  uint32_t channel_scale_count = 0;
  const float* channel_scales = nullptr;
  const char* name = "";  // "" if stripped
};

struct ValueView {
  uint32_t operand = 0;
  format::ValueSource source = format::ValueSource::kOmitted;
  const void* data = nullptr;  // kImmediate
  uint64_t offset = 0;         // for weights: byte offset in the weights
  uint64_t length = 0;         // for immediate values and weights: bytes
  uint32_t model = 0;          // kModel: number of the subgraph
};

struct OperationView {
  int32_t code = 0;
  uint32_t input_count = 0, output_count = 0;
  const uint32_t* inputs = nullptr;
  const uint32_t* outputs = nullptr;
  const char* name = "";
  const char* source = "";
};

struct BoundaryView {
  uint32_t operand = 0;
  int32_t argument = -1;  // for an input of the main model: the index of forward's argument
  format::Layout layout = format::Layout::kSame;
};

struct SubgraphView {
  std::vector<OperandView> operands;
  std::vector<ValueView> values;
  std::vector<OperationView> operations;
  std::vector<BoundaryView> inputs, outputs;
  std::vector<uint32_t> input_operands, output_operands;  // the operands of `inputs` and `outputs`, for NNAPI's call
};

struct ModelView {
  uint32_t feature_level = 1;
  int32_t preference = 0;
  bool relax_fp16 = false;
  std::vector<SubgraphView> models;                   // the first is the main one
  std::shared_ptr<const std::vector<int32_t>> words;  // patched; the pointers above go into them
};

// The place of the weights. With a file descriptor the shim hands NNAPI the file, otherwise the memory.
struct Weights {
  const uint8_t* data = nullptr;
  uint64_t bytes = 0;
  int fd = -1;
  uint64_t file_offset = 0;  // a multiple of the page size if fd is not -1
};

}  // namespace nnapi_shim
