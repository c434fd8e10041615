// SPDX-License-Identifier: BSD-3-Clause
#include "lib/litert/operations.h"

#include "lib/format/operation_table.h"

namespace nnapi_convert::litert {
namespace {

using Code = OperationCode;

constexpr OperationRow one_to_one(Code code, Builtin builtin, Options options, int tensors, int activation = -1,
                                  bool needs_equal_scales = false) {
  return {code, builtin, options, tensors, activation, needs_equal_scales};
}

constexpr OperationRow by(Code code, void (*write)(OperationWriter&), Builtin builtin = Builtin::ADD,
                          Options options = Options::NONE) {
  return {code, builtin, options, 0, -1, false, write};
}

const OperationRow kRows[] = {
    one_to_one(Code::ADD, Builtin::ADD, Options::ADD, 2, 2),
    one_to_one(Code::DEQUANTIZE, Builtin::DEQUANTIZE, Options::DEQUANTIZE, 1),
    one_to_one(Code::EMBEDDING_LOOKUP, Builtin::EMBEDDING_LOOKUP, Options::NONE, 2),
    one_to_one(Code::EXP, Builtin::EXP, Options::EXP, 1),
    one_to_one(Code::FLOOR, Builtin::FLOOR, Options::NONE, 1),
    one_to_one(Code::HARD_SWISH, Builtin::HARD_SWISH, Options::HARD_SWISH, 1),
    one_to_one(Code::LOG, Builtin::LOG, Options::NONE, 1),
    one_to_one(Code::LOGICAL_AND, Builtin::LOGICAL_AND, Options::LOGICAL_AND, 2),
    one_to_one(Code::LOGICAL_NOT, Builtin::LOGICAL_NOT, Options::LOGICAL_NOT, 1),
    one_to_one(Code::LOGICAL_OR, Builtin::LOGICAL_OR, Options::LOGICAL_OR, 2),
    one_to_one(Code::LOGISTIC, Builtin::LOGISTIC, Options::NONE, 1),
    one_to_one(Code::MAXIMUM, Builtin::MAXIMUM, Options::MAXIMUM_MINIMUM, 2, -1, true),
    one_to_one(Code::MINIMUM, Builtin::MINIMUM, Options::MAXIMUM_MINIMUM, 2, -1, true),
    one_to_one(Code::MUL, Builtin::MUL, Options::MUL, 2, 2),
    one_to_one(Code::NEG, Builtin::NEG, Options::NEG, 1),
    one_to_one(Code::PAD, Builtin::PAD, Options::PAD, 2),
    one_to_one(Code::PAD_V2, Builtin::PADV2, Options::PADV2, 3),
    one_to_one(Code::POW, Builtin::POW, Options::POW, 2),
    one_to_one(Code::QUANTIZE, Builtin::QUANTIZE, Options::QUANTIZE, 1),
    one_to_one(Code::RELU, Builtin::RELU, Options::NONE, 1),
    one_to_one(Code::RELU1, Builtin::RELU_N1_TO_1, Options::NONE, 1),
    one_to_one(Code::RELU6, Builtin::RELU6, Options::NONE, 1),
    one_to_one(Code::RSQRT, Builtin::RSQRT, Options::NONE, 1),
    one_to_one(Code::SIN, Builtin::SIN, Options::NONE, 1),
    one_to_one(Code::SLICE, Builtin::SLICE, Options::SLICE, 3),
    one_to_one(Code::SQRT, Builtin::SQRT, Options::NONE, 1),
    one_to_one(Code::SUB, Builtin::SUB, Options::SUB, 2, 2),
    one_to_one(Code::TANH, Builtin::TANH, Options::NONE, 1),
    one_to_one(Code::TILE, Builtin::TILE, Options::TILE, 2),

    by(Code::ABS, write_abs),
    by(Code::ARGMAX, write_arg, Builtin::ARG_MAX, Options::ARG_MAX),
    by(Code::ARGMIN, write_arg, Builtin::ARG_MIN, Options::ARG_MIN),
    by(Code::AVERAGE_POOL_2D, write_average_pool),
    by(Code::BATCH_MATMUL, write_batch_matmul),
    by(Code::BATCH_TO_SPACE_ND, write_batch_to_space),
    by(Code::BIDIRECTIONAL_SEQUENCE_LSTM, write_bidirectional_lstm),
    by(Code::BIDIRECTIONAL_SEQUENCE_RNN, write_bidirectional_rnn),
    by(Code::CAST, write_cast),
    by(Code::CHANNEL_SHUFFLE, write_channel_shuffle),
    by(Code::CONCATENATION, write_concatenation),
    by(Code::CONV_2D, write_conv_2d),
    by(Code::DEPTHWISE_CONV_2D, write_depthwise_conv_2d),
    by(Code::DEPTH_TO_SPACE, write_block, Builtin::DEPTH_TO_SPACE, Options::DEPTH_TO_SPACE),
    by(Code::DIV, write_div),
    by(Code::ELU, write_elu),
    by(Code::EQUAL, write_comparison, Builtin::EQUAL, Options::EQUAL),
    by(Code::EXPAND_DIMS, write_reshape),
    by(Code::FILL, write_fill),
    by(Code::FULLY_CONNECTED, write_fully_connected),
    by(Code::GATHER, write_gather),
    by(Code::GREATER, write_comparison, Builtin::GREATER, Options::GREATER),
    by(Code::GREATER_EQUAL, write_comparison, Builtin::GREATER_EQUAL, Options::GREATER_EQUAL),
    by(Code::GROUPED_CONV_2D, write_grouped_conv_2d),
    by(Code::IF, write_if),
    by(Code::INSTANCE_NORMALIZATION, write_instance_normalization),
    by(Code::L2_NORMALIZATION, write_l2_normalization),
    by(Code::L2_POOL_2D, write_l2_pool),
    by(Code::LESS, write_comparison, Builtin::LESS, Options::LESS),
    by(Code::LESS_EQUAL, write_comparison, Builtin::LESS_EQUAL, Options::LESS_EQUAL),
    by(Code::LOCAL_RESPONSE_NORMALIZATION, write_local_response_normalization),
    by(Code::LOG_SOFTMAX, write_log_softmax),
    by(Code::LSTM, write_lstm),
    by(Code::MAX_POOL_2D, write_max_pool),
    by(Code::MEAN, write_reduction, Builtin::MEAN),
    by(Code::MIRROR_PAD, write_mirror_pad),
    by(Code::NOT_EQUAL, write_comparison, Builtin::NOT_EQUAL, Options::NOT_EQUAL),
    by(Code::PACK, write_pack),
    by(Code::PRELU, write_prelu),
    by(Code::REDUCE_ALL, write_reduction, Builtin::REDUCE_ALL),
    by(Code::REDUCE_ANY, write_reduction, Builtin::REDUCE_ANY),
    by(Code::REDUCE_MAX, write_reduction, Builtin::REDUCE_MAX),
    by(Code::REDUCE_MIN, write_reduction, Builtin::REDUCE_MIN),
    by(Code::REDUCE_PROD, write_reduction, Builtin::REDUCE_PROD),
    by(Code::REDUCE_SUM, write_reduction, Builtin::SUM),
    by(Code::RESHAPE, write_reshape),
    by(Code::RESIZE_BILINEAR, write_resize_bilinear),
    by(Code::RESIZE_NEAREST_NEIGHBOR, write_resize_nearest),
    by(Code::REVERSE, write_reverse),
    by(Code::RNN, write_rnn),
    by(Code::SELECT, write_select),
    by(Code::SOFTMAX, write_softmax),
    by(Code::SPACE_TO_BATCH_ND, write_space_to_batch),
    by(Code::SPACE_TO_DEPTH, write_block, Builtin::SPACE_TO_DEPTH, Options::SPACE_TO_DEPTH),
    by(Code::SPLIT, write_split),
    by(Code::SQUEEZE, write_reshape),
    by(Code::STRIDED_SLICE, write_strided_slice),
    by(Code::TOPK_V2, write_topk),
    by(Code::TRANSPOSE, write_transpose),
    by(Code::TRANSPOSE_CONV_2D, write_transpose_conv_2d),
    by(Code::UNIDIRECTIONAL_SEQUENCE_LSTM, write_sequence_lstm),
    by(Code::UNIDIRECTIONAL_SEQUENCE_RNN, write_sequence_rnn),
    by(Code::WHILE, write_while),
};

// Returns an argument's tensor. A scalar that stands for a quantised number, such as PAD_V2's value, has no scale in
// NNAPI: it gets the type and quantisation of `data`.
TensorId with_type_of_data(OperationWriter& w, size_t index, TensorId data) {
  const nnapi::Operand& operand = w.input_operand(index);
  if (nnapi::is_tensor(operand.type) || !w.graph.at(data).is_quantised()) return w.input(index);
  const auto value =
      static_cast<int8_t>(operand.ints()->at(0).value() - (w.graph.options().keeps_uint8 ? 0 : kSignedShift));
  return w.graph.byte_like(data, value);
}

}  // namespace

const OperationRow* find_row(OperationCode code) {
  for (const OperationRow& row : kRows) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

void write_operation(OperationWriter& w, const OperationRow& row) {
  if (row.write != nullptr) return row.write(w);
  Graph& graph = w.graph;
  std::vector<TensorId> inputs;
  const TensorId output = w.output();
  for (size_t i = 0; i < static_cast<size_t>(row.tensors); ++i) {
    TensorId input = with_type_of_data(w, i, i == 0 ? kLeftOut : inputs[0]);
    if (row.needs_equal_scales && graph.at(input).is_quantised()) input = graph.requantised(input, output);
    inputs.push_back(input);
  }
  Table options;
  if (row.activation >= 0) options = w.activation_options(0, w.integer("activation"));
  graph.emit(row.builtin, std::move(inputs), {output}, row.options, std::move(options));
}

}  // namespace nnapi_convert::litert
