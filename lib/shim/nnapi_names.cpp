// SPDX-License-Identifier: BSD-3-Clause
// Holds the names of NNAPI's codes in the order of the codes, one after the other in one text, without a table of
// pointers.
#include "lib/shim/nnapi_names.h"

#include <cstring>

#include "lib/format/nnapi_codes.h"

namespace nnapi_shim {
namespace {

constexpr char kResults[] =
    "ANEURALNETWORKS_NO_ERROR\0"
    "ANEURALNETWORKS_OUT_OF_MEMORY\0"
    "ANEURALNETWORKS_INCOMPLETE\0"
    "ANEURALNETWORKS_UNEXPECTED_NULL\0"
    "ANEURALNETWORKS_BAD_DATA\0"
    "ANEURALNETWORKS_OP_FAILED\0"
    "ANEURALNETWORKS_BAD_STATE\0"
    "ANEURALNETWORKS_UNMAPPABLE\0"
    "ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE\0"
    "ANEURALNETWORKS_UNAVAILABLE_DEVICE\0"
    "ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT\0"
    "ANEURALNETWORKS_MISSED_DEADLINE_PERSISTENT\0"
    "ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT\0"
    "ANEURALNETWORKS_RESOURCE_EXHAUSTED_PERSISTENT\0"
    "ANEURALNETWORKS_DEAD_OBJECT\0";

constexpr char kOperations[] =
    "ADD\0"
    "AVERAGE_POOL_2D\0"
    "CONCATENATION\0"
    "CONV_2D\0"
    "DEPTHWISE_CONV_2D\0"
    "DEPTH_TO_SPACE\0"
    "DEQUANTIZE\0"
    "EMBEDDING_LOOKUP\0"
    "FLOOR\0"
    "FULLY_CONNECTED\0"
    "HASHTABLE_LOOKUP\0"
    "L2_NORMALIZATION\0"
    "L2_POOL_2D\0"
    "LOCAL_RESPONSE_NORMALIZATION\0"
    "LOGISTIC\0"
    "LSH_PROJECTION\0"
    "LSTM\0"
    "MAX_POOL_2D\0"
    "MUL\0"
    "RELU\0"
    "RELU1\0"
    "RELU6\0"
    "RESHAPE\0"
    "RESIZE_BILINEAR\0"
    "RNN\0"
    "SOFTMAX\0"
    "SPACE_TO_DEPTH\0"
    "SVDF\0"
    "TANH\0"
    "BATCH_TO_SPACE_ND\0"
    "DIV\0"
    "MEAN\0"
    "PAD\0"
    "SPACE_TO_BATCH_ND\0"
    "SQUEEZE\0"
    "STRIDED_SLICE\0"
    "SUB\0"
    "TRANSPOSE\0"
    "ABS\0"
    "ARGMAX\0"
    "ARGMIN\0"
    "AXIS_ALIGNED_BBOX_TRANSFORM\0"
    "BIDIRECTIONAL_SEQUENCE_LSTM\0"
    "BIDIRECTIONAL_SEQUENCE_RNN\0"
    "BOX_WITH_NMS_LIMIT\0"
    "CAST\0"
    "CHANNEL_SHUFFLE\0"
    "DETECTION_POSTPROCESSING\0"
    "EQUAL\0"
    "EXP\0"
    "EXPAND_DIMS\0"
    "GATHER\0"
    "GENERATE_PROPOSALS\0"
    "GREATER\0"
    "GREATER_EQUAL\0"
    "GROUPED_CONV_2D\0"
    "HEATMAP_MAX_KEYPOINT\0"
    "INSTANCE_NORMALIZATION\0"
    "LESS\0"
    "LESS_EQUAL\0"
    "LOG\0"
    "LOGICAL_AND\0"
    "LOGICAL_NOT\0"
    "LOGICAL_OR\0"
    "LOG_SOFTMAX\0"
    "MAXIMUM\0"
    "MINIMUM\0"
    "NEG\0"
    "NOT_EQUAL\0"
    "PAD_V2\0"
    "POW\0"
    "PRELU\0"
    "QUANTIZE\0"
    "QUANTIZED_16BIT_LSTM\0"
    "RANDOM_MULTINOMIAL\0"
    "REDUCE_ALL\0"
    "REDUCE_ANY\0"
    "REDUCE_MAX\0"
    "REDUCE_MIN\0"
    "REDUCE_PROD\0"
    "REDUCE_SUM\0"
    "ROI_ALIGN\0"
    "ROI_POOLING\0"
    "RSQRT\0"
    "SELECT\0"
    "SIN\0"
    "SLICE\0"
    "SPLIT\0"
    "SQRT\0"
    "TILE\0"
    "TOPK_V2\0"
    "TRANSPOSE_CONV_2D\0"
    "UNIDIRECTIONAL_SEQUENCE_LSTM\0"
    "UNIDIRECTIONAL_SEQUENCE_RNN\0"
    "RESIZE_NEAREST_NEIGHBOR\0"
    "QUANTIZED_LSTM\0"
    "IF\0"
    "WHILE\0"
    "ELU\0"
    "HARD_SWISH\0"
    "FILL\0"
    "RANK\0"
    "BATCH_MATMUL\0"
    "PACK\0"
    "MIRROR_PAD\0"
    "REVERSE\0";

// Of tensors, without "TENSOR_".
constexpr char kTypes[] =
    "-\0"
    "-\0"
    "-\0"
    "FLOAT32\0"
    "INT32\0"
    "QUANT8_ASYMM\0"
    "-\0"
    "QUANT16_SYMM\0"
    "FLOAT16\0"
    "BOOL8\0"
    "-\0"
    "QUANT8_SYMM_PER_CHANNEL\0"
    "QUANT16_ASYMM\0"
    "QUANT8_SYMM\0"
    "QUANT8_ASYMM_SIGNED\0";

// Returns name number `number` of the list, which an empty text ends; `unknown` for a number outside the list.
const char* name_at(const char* names, int32_t number, const char* unknown) {
  if (number < 0) return unknown;
  for (; *names != '\0'; names += std::strlen(names) + 1) {
    if (number-- == 0) return names;
  }
  return unknown;
}

// Sets the number of the name in the list; returns whether it is there.
bool number_of(const char* names, const char* name, int32_t* number) {
  *number = 0;
  for (; *names != '\0'; names += std::strlen(names) + 1, ++*number) {
    if (std::strcmp(names, name) == 0) return true;
  }
  return false;
}

}  // namespace

const char* result_name(int32_t code) {
  return name_at(kResults, code, "an unknown result code");
}

bool is_deadline(int32_t code) {
  return code == static_cast<int32_t>(nnapi_convert::ResultCode::MISSED_DEADLINE_TRANSIENT) ||
         code == static_cast<int32_t>(nnapi_convert::ResultCode::MISSED_DEADLINE_PERSISTENT);
}

const char* operation_name(int32_t code) {
  return name_at(kOperations, code, "an operation that this library has no name for");
}

bool operation_code(const char* name, int32_t* code) {
  return number_of(kOperations, name, code);
}

bool tensor_code(const char* name, int32_t* code) {
  return std::strncmp(name, "TENSOR_", 7) == 0 && name[7] != '-' && number_of(kTypes, name + 7, code);
}

}  // namespace nnapi_shim
