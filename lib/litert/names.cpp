// SPDX-License-Identifier: BSD-3-Clause
#include "lib/litert/names.h"

namespace nnapi_convert::litert {
namespace {

struct NameRow {
  Builtin code;
  const char* name;
};

constexpr NameRow kNames[] = {
    {Builtin::ADD, "ADD"},
    {Builtin::AVERAGE_POOL_2D, "AVERAGE_POOL_2D"},
    {Builtin::CONCATENATION, "CONCATENATION"},
    {Builtin::CONV_2D, "CONV_2D"},
    {Builtin::DEPTHWISE_CONV_2D, "DEPTHWISE_CONV_2D"},
    {Builtin::DEPTH_TO_SPACE, "DEPTH_TO_SPACE"},
    {Builtin::DEQUANTIZE, "DEQUANTIZE"},
    {Builtin::EMBEDDING_LOOKUP, "EMBEDDING_LOOKUP"},
    {Builtin::FLOOR, "FLOOR"},
    {Builtin::FULLY_CONNECTED, "FULLY_CONNECTED"},
    {Builtin::L2_NORMALIZATION, "L2_NORMALIZATION"},
    {Builtin::LOCAL_RESPONSE_NORMALIZATION, "LOCAL_RESPONSE_NORMALIZATION"},
    {Builtin::LOGISTIC, "LOGISTIC"},
    {Builtin::MAX_POOL_2D, "MAX_POOL_2D"},
    {Builtin::MUL, "MUL"},
    {Builtin::RELU, "RELU"},
    {Builtin::RELU_N1_TO_1, "RELU_N1_TO_1"},
    {Builtin::RELU6, "RELU6"},
    {Builtin::RESHAPE, "RESHAPE"},
    {Builtin::RESIZE_BILINEAR, "RESIZE_BILINEAR"},
    {Builtin::SOFTMAX, "SOFTMAX"},
    {Builtin::SPACE_TO_DEPTH, "SPACE_TO_DEPTH"},
    {Builtin::TANH, "TANH"},
    {Builtin::PAD, "PAD"},
    {Builtin::GATHER, "GATHER"},
    {Builtin::BATCH_TO_SPACE_ND, "BATCH_TO_SPACE_ND"},
    {Builtin::SPACE_TO_BATCH_ND, "SPACE_TO_BATCH_ND"},
    {Builtin::TRANSPOSE, "TRANSPOSE"},
    {Builtin::MEAN, "MEAN"},
    {Builtin::SUB, "SUB"},
    {Builtin::DIV, "DIV"},
    {Builtin::STRIDED_SLICE, "STRIDED_SLICE"},
    {Builtin::EXP, "EXP"},
    {Builtin::TOPK_V2, "TOPK_V2"},
    {Builtin::SPLIT, "SPLIT"},
    {Builtin::LOG_SOFTMAX, "LOG_SOFTMAX"},
    {Builtin::CAST, "CAST"},
    {Builtin::PRELU, "PRELU"},
    {Builtin::MAXIMUM, "MAXIMUM"},
    {Builtin::ARG_MAX, "ARG_MAX"},
    {Builtin::MINIMUM, "MINIMUM"},
    {Builtin::LESS, "LESS"},
    {Builtin::NEG, "NEG"},
    {Builtin::PADV2, "PADV2"},
    {Builtin::GREATER, "GREATER"},
    {Builtin::GREATER_EQUAL, "GREATER_EQUAL"},
    {Builtin::LESS_EQUAL, "LESS_EQUAL"},
    {Builtin::SELECT, "SELECT"},
    {Builtin::SLICE, "SLICE"},
    {Builtin::SIN, "SIN"},
    {Builtin::TRANSPOSE_CONV, "TRANSPOSE_CONV"},
    {Builtin::TILE, "TILE"},
    {Builtin::EQUAL, "EQUAL"},
    {Builtin::NOT_EQUAL, "NOT_EQUAL"},
    {Builtin::LOG, "LOG"},
    {Builtin::SUM, "SUM"},
    {Builtin::SQRT, "SQRT"},
    {Builtin::RSQRT, "RSQRT"},
    {Builtin::POW, "POW"},
    {Builtin::ARG_MIN, "ARG_MIN"},
    {Builtin::REDUCE_PROD, "REDUCE_PROD"},
    {Builtin::REDUCE_MAX, "REDUCE_MAX"},
    {Builtin::SHAPE, "SHAPE"},
    {Builtin::PACK, "PACK"},
    {Builtin::LOGICAL_OR, "LOGICAL_OR"},
    {Builtin::LOGICAL_AND, "LOGICAL_AND"},
    {Builtin::LOGICAL_NOT, "LOGICAL_NOT"},
    {Builtin::REDUCE_MIN, "REDUCE_MIN"},
    {Builtin::FLOOR_DIV, "FLOOR_DIV"},
    {Builtin::REDUCE_ANY, "REDUCE_ANY"},
    {Builtin::FILL, "FILL"},
    {Builtin::RESIZE_NEAREST_NEIGHBOR, "RESIZE_NEAREST_NEIGHBOR"},
    {Builtin::LEAKY_RELU, "LEAKY_RELU"},
    {Builtin::SQUARED_DIFFERENCE, "SQUARED_DIFFERENCE"},
    {Builtin::MIRROR_PAD, "MIRROR_PAD"},
    {Builtin::ABS, "ABS"},
    {Builtin::REVERSE_V2, "REVERSE_V2"},
    {Builtin::ELU, "ELU"},
    {Builtin::QUANTIZE, "QUANTIZE"},
    {Builtin::HARD_SWISH, "HARD_SWISH"},
    {Builtin::IF, "IF"},
    {Builtin::WHILE, "WHILE"},
    {Builtin::SELECT_V2, "SELECT_V2"},
    {Builtin::BATCH_MATMUL, "BATCH_MATMUL"},
    {Builtin::REDUCE_ALL, "REDUCE_ALL"},
};

}  // namespace

std::string name_of(Builtin code) {
  for (const NameRow& row : kNames) {
    if (row.code == code) return row.name;
  }
  return "BUILTIN_" + std::to_string(static_cast<int32_t>(code));
}

std::string name_of(TensorType type) {
  switch (type) {
    case TensorType::FLOAT32:
      return "float32";
    case TensorType::FLOAT16:
      return "float16";
    case TensorType::INT32:
      return "int32";
    case TensorType::UINT8:
      return "uint8";
    case TensorType::INT64:
      return "int64";
    case TensorType::BOOL:
      return "bool";
    case TensorType::INT16:
      return "int16";
    case TensorType::INT8:
      return "int8";
  }
  return "type_" + std::to_string(static_cast<int>(type));
}

}  // namespace nnapi_convert::litert
