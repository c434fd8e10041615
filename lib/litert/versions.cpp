// SPDX-License-Identifier: BSD-3-Clause
#include "lib/litert/versions.h"

#include <algorithm>
#include <array>

namespace nnapi_convert::litert {
namespace {

struct VersionRow {
  Builtin code;
  int32_t of_int8, of_bool;
};

// Operators that have a higher version for int8 or bool; all others have 1 for all types.
constexpr VersionRow kVersions[] = {
    {Builtin::ADD, 2, 1},
    {Builtin::ARG_MAX, 2, 1},
    {Builtin::ARG_MIN, 2, 1},
    {Builtin::AVERAGE_POOL_2D, 2, 1},
    {Builtin::BATCH_MATMUL, 2, 1},
    {Builtin::BATCH_TO_SPACE_ND, 2, 1},
    {Builtin::CAST, 3, 1},
    {Builtin::CONCATENATION, 2, 1},
    {Builtin::CONV_2D, 3, 1},
    {Builtin::DEPTHWISE_CONV_2D, 3, 1},
    {Builtin::DEPTH_TO_SPACE, 2, 1},
    {Builtin::DEQUANTIZE, 2, 1},
    {Builtin::EQUAL, 2, 1},
    {Builtin::FULLY_CONNECTED, 4, 1},
    {Builtin::GATHER, 2, 3},
    {Builtin::GREATER, 2, 1},
    {Builtin::GREATER_EQUAL, 2, 1},
    {Builtin::L2_NORMALIZATION, 2, 1},
    {Builtin::LESS, 2, 1},
    {Builtin::LESS_EQUAL, 2, 1},
    {Builtin::LOGISTIC, 2, 1},
    {Builtin::LOG_SOFTMAX, 2, 1},
    {Builtin::MAXIMUM, 2, 1},
    {Builtin::MAX_POOL_2D, 2, 1},
    {Builtin::MEAN, 2, 1},
    {Builtin::MINIMUM, 2, 1},
    {Builtin::MIRROR_PAD, 2, 1},
    {Builtin::MUL, 2, 1},
    {Builtin::NOT_EQUAL, 2, 1},
    {Builtin::PACK, 2, 1},
    {Builtin::PAD, 2, 5},
    {Builtin::PADV2, 2, 1},
    {Builtin::REDUCE_MAX, 2, 1},
    {Builtin::REDUCE_MIN, 2, 1},
    {Builtin::RELU, 2, 1},
    {Builtin::RELU6, 2, 1},
    {Builtin::RESIZE_BILINEAR, 2, 1},
    {Builtin::RESIZE_NEAREST_NEIGHBOR, 2, 1},
    {Builtin::REVERSE_V2, 3, 2},
    {Builtin::RSQRT, 2, 1},
    {Builtin::SLICE, 2, 1},
    {Builtin::SOFTMAX, 2, 1},
    {Builtin::SPACE_TO_BATCH_ND, 2, 1},
    {Builtin::SPACE_TO_DEPTH, 2, 1},
    {Builtin::SPLIT, 2, 1},
    {Builtin::STRIDED_SLICE, 2, 3},
    {Builtin::SUB, 2, 1},
    {Builtin::SUM, 2, 1},
    {Builtin::TANH, 2, 1},
    {Builtin::TILE, 3, 1},
    {Builtin::TOPK_V2, 2, 1},
    {Builtin::TRANSPOSE, 2, 1},
    {Builtin::TRANSPOSE_CONV, 2, 1},
};

const Tensor& input_of(const Subgraph& subgraph, const Operator& each, size_t index) {
  return subgraph.tensors[static_cast<size_t>(each.inputs[index])];
}

// Returns the input whose type determines the version: SPLIT has its axis before its data, TRANSPOSE_CONV the output's
// shape and the filter; EQUAL's result is bool.
const Tensor& data_of(const Subgraph& subgraph, const Operator& each) {
  if (each.code == Builtin::SPLIT) return input_of(subgraph, each, 1);
  if (each.code == Builtin::TRANSPOSE_CONV) return input_of(subgraph, each, 2);
  return input_of(subgraph, each, 0);
}

bool is_grouped(const Subgraph& subgraph, const Operator& each) {
  return input_of(subgraph, each, 0).shape[3] != input_of(subgraph, each, 1).shape[3];
}

// Returns the version required by something other than the data type alone (groups, dilation, a missing bias); 1 if
// nothing requires one.
int32_t special_version(const Subgraph& subgraph, const Operator& each) {
  const Tensor& data = data_of(subgraph, each);
  switch (each.code) {
    case Builtin::CONV_2D:
      return is_grouped(subgraph, each) ? 6 : 1;
    case Builtin::DEPTHWISE_CONV_2D:
      return each.options.has(5) || each.options.has(6) ? 2 : 1;  // dilations
    case Builtin::DEQUANTIZE:
      if (data.scales.size() > 1) return 5;
      return data.type == TensorType::FLOAT16 ? 3 : 1;
    case Builtin::CAST:
      return subgraph.tensors[static_cast<size_t>(each.outputs[0])].type == TensorType::INT8 ? 3 : 1;
    case Builtin::FULLY_CONNECTED:
      return each.inputs.size() < 3 || each.inputs[2] < 0 ? 6 : 1;
    case Builtin::MUL: {
      if (!data.is_quantised() || data.type != TensorType::INT8) return 1;
      const float output = subgraph.tensors[static_cast<size_t>(each.outputs[0])].scales[0];
      return data.scales[0] * input_of(subgraph, each, 1).scales[0] >= output ? 3 : 1;
    }
    case Builtin::QUANTIZE:
      return data.type == TensorType::FLOAT32 ? 1 : 2;
    case Builtin::RELU:
      return data.is_quantised() ? 2 : 1;
    case Builtin::RESIZE_BILINEAR:
      return each.options.has(3) ? 3 : 1;
    case Builtin::RESIZE_NEAREST_NEIGHBOR:
      return each.options.has(0) || each.options.has(1) ? 3 : 1;
    case Builtin::SPLIT:
      return data.type == TensorType::INT32 ? 3 : 1;
    case Builtin::TRANSPOSE_CONV:
      return each.inputs.size() > 3 ? 3 : 1;
    default:
      return 1;
  }
}

int32_t type_version(const Subgraph& subgraph, const Operator& each) {
  if (each.inputs.empty()) return 1;
  const TensorType type = data_of(subgraph, each).type;
  for (const VersionRow& row : kVersions) {
    if (row.code != each.code) continue;
    if (type == TensorType::INT8) return row.of_int8;
    return type == TensorType::BOOL ? row.of_bool : 1;
  }
  return 1;
}

// The first TensorFlow release, 2.MINOR, that has an operator in this version. They are known from the releases and
// were not tried: LiteRT has no complete list, and no runtime reads the file's entry that is made of them.
struct RuntimeRow {
  Builtin code;
  int32_t version, minor;
};

constexpr RuntimeRow kRuntimes[] = {
    {Builtin::BATCH_MATMUL, 1, 3}, {Builtin::CAST, 3, 7},           {Builtin::CONV_2D, 6, 9},
    {Builtin::DEQUANTIZE, 3, 1},   {Builtin::DEQUANTIZE, 5, 7},     {Builtin::FULLY_CONNECTED, 6, 3},
    {Builtin::GATHER, 3, 3},       {Builtin::HARD_SWISH, 1, 3},     {Builtin::PAD, 5, 16},
    {Builtin::QUANTIZE, 2, 2},     {Builtin::REDUCE_ALL, 1, 10},    {Builtin::RESIZE_BILINEAR, 3, 2},
    {Builtin::REVERSE_V2, 2, 2},   {Builtin::REVERSE_V2, 3, 5},     {Builtin::RESIZE_NEAREST_NEIGHBOR, 3, 3},
    {Builtin::RSQRT, 2, 5},        {Builtin::TRANSPOSE_CONV, 3, 3}, {Builtin::TILE, 3, 7},
    {Builtin::SELECT_V2, 1, 2},    {Builtin::SPLIT, 3, 1},
};

}  // namespace

int32_t version_of(const Subgraph& subgraph, const Operator& each) {
  if (each.inputs.empty()) return 1;
  return std::max(type_version(subgraph, each), special_version(subgraph, each));
}

std::string least_runtime(const File& file) {
  int32_t minor = -1;
  for (const Subgraph& subgraph : file.subgraphs) {
    for (const Operator& each : subgraph.operators) {
      for (const RuntimeRow& row : kRuntimes) {
        if (row.code == each.code && row.version <= each.version) minor = std::max(minor, row.minor);
      }
    }
  }
  return minor < 0 ? "1.15.0" : "2." + std::to_string(minor) + ".0";
}

}  // namespace nnapi_convert::litert
