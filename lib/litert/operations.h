// SPDX-License-Identifier: BSD-3-Clause
// The table of NNAPI's operations and their forms in LiteRT.
#pragma once

#include "lib/litert/operation_writer.h"

namespace nnapi_convert::litert {

struct OperationRow {
  OperationCode code;
  Builtin builtin;  // for operations that become one operator with the same tensors
  Options options;
  int tensors;                                  // the number of inputs that are tensors; they come first
  int activation;                               // the index of the input that is a fused activation; -1: none
  bool needs_equal_scales;                      // LiteRT needs one scale for the inputs and the output
  void (*write)(OperationWriter& w) = nullptr;  // for all other operations
};

// Returns null for an operation that has no form in LiteRT.
const OperationRow* find_row(OperationCode code);
void write_operation(OperationWriter& w, const OperationRow& row);

// Convolutions (convolutions.cpp).
void write_conv_2d(OperationWriter& w);
void write_depthwise_conv_2d(OperationWriter& w);
void write_grouped_conv_2d(OperationWriter& w);
void write_transpose_conv_2d(OperationWriter& w);
void write_fully_connected(OperationWriter& w);
void write_batch_matmul(OperationWriter& w);
// Pools and resizing (pools.cpp).
void write_average_pool(OperationWriter& w);
void write_max_pool(OperationWriter& w);
void write_l2_pool(OperationWriter& w);
void write_resize_bilinear(OperationWriter& w);
void write_resize_nearest(OperationWriter& w);
// Moves of elements (moves.cpp).
void write_batch_to_space(OperationWriter& w);
void write_block(OperationWriter& w);
void write_cast(OperationWriter& w);
void write_channel_shuffle(OperationWriter& w);
void write_concatenation(OperationWriter& w);
void write_fill(OperationWriter& w);
void write_gather(OperationWriter& w);
void write_mirror_pad(OperationWriter& w);
void write_pack(OperationWriter& w);
void write_reshape(OperationWriter& w);
void write_reverse(OperationWriter& w);
void write_select(OperationWriter& w);
void write_space_to_batch(OperationWriter& w);
void write_split(OperationWriter& w);
void write_strided_slice(OperationWriter& w);
void write_topk(OperationWriter& w);
void write_transpose(OperationWriter& w);
// Arithmetic along axes, and elementwise formulas (arithmetic.cpp).
void write_abs(OperationWriter& w);
void write_arg(OperationWriter& w);
void write_comparison(OperationWriter& w);
void write_div(OperationWriter& w);
void write_elu(OperationWriter& w);
void write_prelu(OperationWriter& w);
void write_instance_normalization(OperationWriter& w);
void write_l2_normalization(OperationWriter& w);
void write_local_response_normalization(OperationWriter& w);
void write_log_softmax(OperationWriter& w);
void write_reduction(OperationWriter& w);
void write_softmax(OperationWriter& w);
// Recurrent layers (recurrent.cpp).
void write_lstm(OperationWriter& w);
void write_sequence_lstm(OperationWriter& w);
void write_bidirectional_lstm(OperationWriter& w);
void write_rnn(OperationWriter& w);
void write_sequence_rnn(OperationWriter& w);
void write_bidirectional_rnn(OperationWriter& w);
// Control flow (control_flow.cpp).
void write_if(OperationWriter& w);
void write_while(OperationWriter& w);

}  // namespace nnapi_convert::litert
