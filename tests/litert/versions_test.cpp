// SPDX-License-Identifier: BSD-3-Clause
// The lowest version of each operator that has what the file uses, as tensorflow/lite/tools/versioning/op_version.cc
// tells.
#include "lib/litert/versions.h"

#include <catch2/catch.hpp>

using namespace nnapi_convert::litert;

namespace {

Tensor of_type(TensorType type, std::vector<int32_t> shape = {1, 2, 2, 4}) {
  Tensor tensor;
  tensor.type = type;
  tensor.shape = std::move(shape);
  if (type == TensorType::INT8 || type == TensorType::UINT8) {
    tensor.scales = {0.5F};
    tensor.zero_points = {0};
  }
  return tensor;
}

// The version of an operator with these inputs and one output.
int32_t version(Builtin code, std::vector<Tensor> inputs, Tensor output, Table options = {}) {
  Subgraph subgraph;
  Operator each{code, 1, {}, {static_cast<int32_t>(inputs.size())}, Options::NONE, std::move(options)};
  for (size_t i = 0; i < inputs.size(); ++i) each.inputs.push_back(static_cast<int32_t>(i));
  subgraph.tensors = std::move(inputs);
  subgraph.tensors.push_back(std::move(output));
  return version_of(subgraph, each);
}

int32_t version(Builtin code, TensorType type) {
  return version(code, {of_type(type), of_type(type), of_type(type)}, of_type(type));
}

const Tensor kFloat = of_type(TensorType::FLOAT32), kByte = of_type(TensorType::INT8),
             kInt = of_type(TensorType::INT32, {4});

}  // namespace

TEST_CASE("version 2 is that of int8 for most operators, and float32 has 1") {
  for (const Builtin code : {Builtin::ADD,
                             Builtin::ARG_MAX,
                             Builtin::ARG_MIN,
                             Builtin::AVERAGE_POOL_2D,
                             Builtin::BATCH_MATMUL,
                             Builtin::BATCH_TO_SPACE_ND,
                             Builtin::CONCATENATION,
                             Builtin::DEPTH_TO_SPACE,
                             Builtin::DEQUANTIZE,
                             Builtin::EQUAL,
                             Builtin::GATHER,
                             Builtin::GREATER,
                             Builtin::GREATER_EQUAL,
                             Builtin::L2_NORMALIZATION,
                             Builtin::LESS,
                             Builtin::LESS_EQUAL,
                             Builtin::LOGISTIC,
                             Builtin::LOG_SOFTMAX,
                             Builtin::MAXIMUM,
                             Builtin::MAX_POOL_2D,
                             Builtin::MEAN,
                             Builtin::MINIMUM,
                             Builtin::MIRROR_PAD,
                             Builtin::NOT_EQUAL,
                             Builtin::PACK,
                             Builtin::PAD,
                             Builtin::PADV2,
                             Builtin::REDUCE_MAX,
                             Builtin::REDUCE_MIN,
                             Builtin::RELU,
                             Builtin::RELU6,
                             Builtin::RESIZE_BILINEAR,
                             Builtin::RESIZE_NEAREST_NEIGHBOR,
                             Builtin::RSQRT,
                             Builtin::SLICE,
                             Builtin::SOFTMAX,
                             Builtin::SPACE_TO_BATCH_ND,
                             Builtin::SPACE_TO_DEPTH,
                             Builtin::SPLIT,
                             Builtin::STRIDED_SLICE,
                             Builtin::SUB,
                             Builtin::SUM,
                             Builtin::TANH,
                             Builtin::TOPK_V2,
                             Builtin::TRANSPOSE}) {
    INFO(static_cast<int>(code));
    CHECK(version(code, TensorType::INT8) == 2);
    CHECK(version(code, TensorType::FLOAT32) == 1);
  }
  for (const Builtin code : {Builtin::RESHAPE, Builtin::SELECT, Builtin::PRELU, Builtin::ELU, Builtin::HARD_SWISH,
                             Builtin::LEAKY_RELU, Builtin::POW, Builtin::FILL, Builtin::IF, Builtin::WHILE}) {
    for (const TensorType type : {TensorType::FLOAT32, TensorType::INT8, TensorType::INT32, TensorType::BOOL}) {
      CHECK(version(code, type) == 1);
    }
  }
}

TEST_CASE("version 3 and above is that of int8 for some") {
  CHECK(version(Builtin::CONV_2D, {kByte, kByte, kInt}, kByte) == 3);
  CHECK(version(Builtin::DEPTHWISE_CONV_2D, {kByte, kByte, kInt}, kByte) == 3);
  CHECK(version(Builtin::FULLY_CONNECTED, {kByte, kByte, kInt}, kByte) == 4);
  CHECK(version(Builtin::TRANSPOSE_CONV, {kInt, kByte, kByte}, kByte) == 2);
  CHECK(version(Builtin::CAST, {kByte}, kFloat) == 3);
  CHECK(version(Builtin::CAST, {kFloat}, kByte) == 3);
  CHECK(version(Builtin::CAST, {kFloat}, kInt) == 1);
  CHECK(version(Builtin::REVERSE_V2, TensorType::INT8) == 3);
  CHECK(version(Builtin::TILE, TensorType::INT8) == 3);
}

TEST_CASE("versions of uint8 are those of float32, but RELU's and QUANTIZE's") {
  const Tensor bytes = of_type(TensorType::UINT8);
  CHECK(version(Builtin::CONV_2D, {bytes, bytes, kInt}, bytes) == 1);
  CHECK(version(Builtin::FULLY_CONNECTED, {bytes, bytes, kInt}, bytes) == 1);
  CHECK(version(Builtin::RELU, {bytes}, bytes) == 2);
  CHECK(version(Builtin::RELU6, {bytes}, bytes) == 1);
  CHECK(version(Builtin::QUANTIZE, {kFloat}, kByte) == 1);
  CHECK(version(Builtin::QUANTIZE, {bytes}, kByte) == 2);
  CHECK(version(Builtin::QUANTIZE, {kByte}, bytes) == 2);
}

TEST_CASE("versions of bool and int32") {
  CHECK(version(Builtin::GATHER, TensorType::BOOL) == 3);
  CHECK(version(Builtin::PAD, TensorType::BOOL) == 5);
  CHECK(version(Builtin::REVERSE_V2, TensorType::BOOL) == 2);
  CHECK(version(Builtin::STRIDED_SLICE, TensorType::BOOL) == 3);
  CHECK(version(Builtin::EQUAL, TensorType::BOOL) == 1);
  CHECK(version(Builtin::SPLIT, {kInt, of_type(TensorType::INT32)}, of_type(TensorType::INT32)) == 3);
  CHECK(version(Builtin::SPLIT, {kInt, kFloat}, kFloat) == 1);
  CHECK(version(Builtin::SPLIT, {kInt, kByte}, kByte) == 2);
}

TEST_CASE("groups, dilations, biases, half pixels and scales ask for more") {
  const Tensor halves = of_type(TensorType::FLOAT32, {4, 1, 1, 2});
  CHECK(version(Builtin::CONV_2D, {kFloat, kFloat, kFloat}, kFloat) == 1);
  CHECK(version(Builtin::CONV_2D, {kFloat, halves, kFloat}, kFloat) == 6);
  for (const int id : {5, 6}) {
    Table dilated;
    dilated.set(id, int32_t{2}, int32_t{1});
    CHECK(version(Builtin::DEPTHWISE_CONV_2D, {kFloat, kFloat, kFloat}, kFloat, dilated) == 2);
    CHECK(version(Builtin::DEPTHWISE_CONV_2D, {kByte, kByte, kInt}, kByte, dilated) == 3);
  }
  CHECK(version(Builtin::DEPTHWISE_CONV_2D, {kFloat, kFloat, kFloat}, kFloat) == 1);
  CHECK(version(Builtin::FULLY_CONNECTED, {kFloat, kFloat, kFloat}, kFloat) == 1);
  CHECK(version(Builtin::FULLY_CONNECTED, {kFloat, kFloat}, kFloat) == 6);
  CHECK(version(Builtin::TRANSPOSE_CONV, {kInt, kFloat, kFloat}, kFloat) == 1);
  CHECK(version(Builtin::TRANSPOSE_CONV, {kInt, kFloat, kFloat, kFloat}, kFloat) == 3);
  Table half_pixels, align_corners;
  half_pixels.set(3, true, false);
  align_corners.set(2, true, false);
  CHECK(version(Builtin::RESIZE_BILINEAR, {kFloat, kInt}, kFloat, half_pixels) == 3);
  CHECK(version(Builtin::RESIZE_BILINEAR, {kFloat, kInt}, kFloat, align_corners) == 1);
  for (const int id : {0, 1}) {
    Table option;
    option.set(id, true, false);
    CHECK(version(Builtin::RESIZE_NEAREST_NEIGHBOR, {kFloat, kInt}, kFloat, option) == 3);
  }
  Tensor halved = kByte, channels = kByte;
  halved.scales = {0.2F};
  CHECK(version(Builtin::MUL, {kByte, kByte}, kByte) == 2);
  CHECK(version(Builtin::MUL, {kByte, kByte}, halved) == 3);
  channels.scales = {0.5F, 0.25F, 0.5F, 0.25F};
  channels.zero_points = {0, 0, 0, 0};
  CHECK(version(Builtin::DEQUANTIZE, {channels}, kFloat) == 5);
  CHECK(version(Builtin::DEQUANTIZE, {of_type(TensorType::FLOAT16)}, kFloat) == 3);
}

TEST_CASE("the oldest runtime is that of the newest operator") {
  File file;
  file.subgraphs.emplace_back();
  CHECK(least_runtime(file) == "1.15.0");
  const std::pair<Operator, const char*> operators[] = {{{Builtin::CONV_2D, 3, {}, {}, Options::NONE, {}}, "1.15.0"},
                                                        {{Builtin::SELECT_V2, 1, {}, {}, Options::NONE, {}}, "2.2.0"},
                                                        {{Builtin::DEQUANTIZE, 5, {}, {}, Options::NONE, {}}, "2.7.0"},
                                                        {{Builtin::CONV_2D, 6, {}, {}, Options::NONE, {}}, "2.9.0"},
                                                        {{Builtin::PAD, 5, {}, {}, Options::NONE, {}}, "2.16.0"}};
  for (const auto& [each, runtime] : operators) {
    file.subgraphs[0].operators.push_back(each);
    CHECK(least_runtime(file) == runtime);
  }
}
