// SPDX-License-Identifier: BSD-3-Clause
// Reads LiteRT files (.tflite), of this program and of others, for people: `nnapi-convert inspect`. Every offset is
// checked, so that a damaged or hostile file gets an error.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nnapi_convert::litert {

// The difference of uint8 numbers and the int8 numbers that stand for them in this program's files.
constexpr int32_t kUint8Shift = 128;

struct ReadTensor {
  std::string name, type;
  std::vector<int32_t> shape, signature;
  uint64_t shape_begin = 0, signature_begin = 0;    // positions of their numbers in the file; 0: none
  bool has_rank = false;                            // without it an empty shape means an unknown rank
  uint64_t constant_begin = 0, constant_bytes = 0;  // position of its data; 0 bytes: not a constant
  std::string value;                                // of a constant of few numbers, such as "[1, 2]"
  std::vector<float> scales;
  std::vector<int64_t> zero_points;
  int32_t channel_axis = 0;
};

struct ReadOperator {
  std::string name;      // or a custom operator's
  int32_t code = 0;      // its number in the format
  int32_t old_code = 0;  // the code in 7 bits, for older readers; 127 for larger codes
  int32_t version = 1;
  std::vector<int32_t> inputs, outputs;
  int options_table = 0;                                     // its number in the union BuiltinOptions
  std::vector<std::pair<std::string, std::string>> options;  // names and values, without usual values
};

struct ReadSubgraph {
  std::string name;
  std::vector<ReadTensor> tensors;
  std::vector<ReadOperator> operators;
  std::vector<int32_t> inputs, outputs;
};

struct ReadPort {
  std::string name;
  uint32_t tensor = 0;
};

struct ReadSignature {
  std::string key;
  uint32_t subgraph = 0;
  std::vector<ReadPort> inputs, outputs;
};

struct ReadFile {
  std::string description, least_runtime;
  std::map<std::string, std::string> metadata;  // texts by their names; control characters are question marks
  std::vector<ReadSubgraph> subgraphs;
  std::vector<ReadSignature> signatures;
  uint64_t constant_bytes = 0;  // of all buffers
};

// Returns whether the bytes begin as those of a LiteRT file do.
bool is_litert_file(std::string_view bytes);

// Throws ConvertError (kBadFile) for bytes that are no LiteRT file; `path` is for the message.
ReadFile read_file(std::string_view bytes, const std::string& path);

// Returns the signatures, how many operators there are of each kind, and each operator with its tensors.
std::string to_text(const ReadFile& file);
nlohmann::json to_json(const ReadFile& file);

}  // namespace nnapi_convert::litert
