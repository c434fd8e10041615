// SPDX-License-Identifier: BSD-3-Clause
// A LiteRT file before it is written: subgraphs, tensors, operators, and data that are read only when they are written.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/dim.h"
#include "lib/litert/codes.h"
#include "lib/litert/flatbuffer.h"
#include "lib/nnapi/constant.h"

namespace nnapi_convert::litert {

// The data of constant tensors.
struct Buffer {
  std::string bytes;                   // small data
  std::vector<nnapi::Constant> parts;  // weights, one behind the other
  bool shifts_sign = false;            // adds 128 to each byte of `parts`: uint8 becomes int8
  bool is_symmetric = false;           // int8 weights of `parts`: -128 becomes -127

  uint64_t byte_count() const;
  void write_to(const nnapi::ByteSink& sink) const;
};

struct Tensor {
  std::string name;
  std::vector<int32_t> shape;      // 1 where the size is open
  std::vector<int32_t> signature;  // the shape with -1 for open sizes; empty: no size is open
  TensorType type = TensorType::FLOAT32;
  size_t buffer = 0;  // 0: not a constant
  std::vector<float> scales;
  std::vector<int64_t> zero_points;  // one for each scale
  int32_t channel_axis = 0;          // the axis along which several scales apply
  Dims dims = {};                    // sizes as expressions in the arguments' sizes, if one is open; not written

  bool is_constant() const { return buffer != 0; }
  bool is_quantised() const { return !scales.empty(); }
};

// An operator. Tensors are given by their number; -1: left out.
struct Operator {
  Builtin code;
  int32_t version = 1;
  std::vector<int32_t> inputs, outputs;
  Options options_type = Options::NONE;
  Table options;
};

struct Subgraph {
  std::string name;
  std::vector<Tensor> tensors;
  std::vector<Operator> operators;  // in the order of execution
  std::vector<int32_t> inputs, outputs;
};

// Names by which callers use a subgraph.
struct Signature {
  std::string key;
  size_t subgraph = 0;
  std::vector<std::string> inputs, outputs;  // names of the subgraph's inputs and outputs
};

struct File {
  std::string description;
  std::vector<Buffer> buffers = std::vector<Buffer>(1);  // the first is empty
  std::vector<Subgraph> subgraphs;
  std::vector<Signature> signatures;
  std::vector<std::pair<std::string, std::string>> metadata = {};  // names and texts, besides min_runtime_version
  std::vector<std::pair<std::string, std::string>> files = {};     // names and bytes, in a zip archive at the end
};

// Returns the oldest runtime that has all operators of the file, such as "2.3.0".
std::string least_runtime(const File& file);

// A file of more bytes keeps its data behind the flatbuffer, whose offsets are signed numbers of 32 bits.
constexpr uint64_t kMostFlatbufferBytes = 0x7fffffff;

// Hands the bytes of the file to `sink`, the same bytes for equal files. Returns their number. `most_flatbuffer_bytes`
// is for tests.
uint64_t write_file(const File& file, const nnapi::ByteSink& sink,
                    uint64_t most_flatbuffer_bytes = kMostFlatbufferBytes);

}  // namespace nnapi_convert::litert
