// SPDX-License-Identifier: BSD-3-Clause
// Declares the rules and kernels of all operations for the list in registry.cpp; each family has one file.
#pragma once

#include "lib/host_runtime/kernel.h"

namespace nnapi_convert::host {

// detection.cpp
void box_with_nms_limit_rule(OpContext& context);
void box_with_nms_limit(OpContext& context);
void detection_postprocessing_rule(OpContext& context);
void detection_postprocessing(OpContext& context);

// keypoint.cpp
void heatmap_max_keypoint_rule(OpContext& context);
void heatmap_max_keypoint(OpContext& context);

// proposals.cpp
void bbox_transform_rule(OpContext& context);
void bbox_transform(OpContext& context);
void generate_proposals_rule(OpContext& context);
void generate_proposals(OpContext& context);

// roi.cpp
void roi_rule(OpContext& context);  // ROI_ALIGN, ROI_POOLING
void roi_align(OpContext& context);
void roi_pooling(OpContext& context);

// convolution.cpp
void conv_rule(OpContext& context);  // CONV_2D, GROUPED_CONV_2D
void depthwise_conv_rule(OpContext& context);
void conv(OpContext& context);
void depthwise_conv(OpContext& context);

// transpose_convolution.cpp
void transpose_conv_rule(OpContext& context);
void transpose_conv(OpContext& context);

// linear.cpp
void fully_connected_rule(OpContext& context);
void fully_connected(OpContext& context);
void batch_matmul_rule(OpContext& context);
void batch_matmul(OpContext& context);

// pooling.cpp
void pool_rule(OpContext& context);
void average_pool(OpContext& context);
void max_pool(OpContext& context);
void l2_pool(OpContext& context);

// binary.cpp
void arithmetic_rule(OpContext& context);  // with a fused activation
void broadcast_rule(OpContext& context);   // without a fused activation
void add(OpContext& context);
void sub(OpContext& context);
void mul(OpContext& context);
void div(OpContext& context);
void maximum(OpContext& context);
void minimum(OpContext& context);
void pow(OpContext& context);
void prelu(OpContext& context);

// unary.cpp: each operation is a row of one table there
void unary_rule(OpContext& context);
void unary(OpContext& context);
void elu_rule(OpContext& context);
void elu(OpContext& context);

// softmax.cpp
void softmax_rule(OpContext& context);
void softmax(OpContext& context);
void log_softmax(OpContext& context);

// normalization.cpp
void l2_normalization_rule(OpContext& context);
void l2_normalization(OpContext& context);
void local_response_normalization_rule(OpContext& context);
void local_response_normalization(OpContext& context);
void instance_normalization_rule(OpContext& context);
void instance_normalization(OpContext& context);

// shape.cpp
void reshape_rule(OpContext& context);
void squeeze_rule(OpContext& context);
void expand_dims_rule(OpContext& context);
void reshape(OpContext& context);  // all three
void transpose_rule(OpContext& context);
void transpose(OpContext& context);
void concatenation_rule(OpContext& context);
void concatenation(OpContext& context);
void pack_rule(OpContext& context);
void pack(OpContext& context);
void split_rule(OpContext& context);
void split(OpContext& context);

// padding.cpp
void pad_rule(OpContext& context);  // PAD, PAD_V2
void pad(OpContext& context);
void mirror_pad_rule(OpContext& context);
void mirror_pad(OpContext& context);

// slice.cpp
void slice_rule(OpContext& context);
void slice(OpContext& context);
void strided_slice_rule(OpContext& context);
void strided_slice(OpContext& context);
void tile_rule(OpContext& context);
void tile(OpContext& context);
void reverse_rule(OpContext& context);
void reverse(OpContext& context);

// reduce.cpp
void reduce_rule(OpContext& context);
void mean(OpContext& context);
void reduce(OpContext& context);  // REDUCE_*
void arg_rule(OpContext& context);
void arg(OpContext& context);  // ARGMAX, ARGMIN
void topk_rule(OpContext& context);
void topk(OpContext& context);

// resize.cpp
void resize_rule(OpContext& context);
void resize_bilinear(OpContext& context);
void resize_nearest(OpContext& context);

// space.cpp
void depth_to_space_rule(OpContext& context);
void depth_to_space(OpContext& context);
void space_to_depth_rule(OpContext& context);
void space_to_depth(OpContext& context);
void batch_to_space_rule(OpContext& context);
void batch_to_space(OpContext& context);
void space_to_batch_rule(OpContext& context);
void space_to_batch(OpContext& context);
void channel_shuffle_rule(OpContext& context);
void channel_shuffle(OpContext& context);

// conversion.cpp
void same_shape_rule(OpContext& context);
void convert(OpContext& context);  // QUANTIZE, DEQUANTIZE
void cast(OpContext& context);

// comparison.cpp
void compare(OpContext& context);
void logical(OpContext& context);  // LOGICAL_AND, LOGICAL_OR
void select_rule(OpContext& context);
void select(OpContext& context);

// control_flow.cpp
void if_rule(OpContext& context);
void if_else(OpContext& context);
void while_rule(OpContext& context);
void while_loop(OpContext& context);

// lookup.cpp
void gather_rule(OpContext& context);
void gather(OpContext& context);
void embedding_lookup_rule(OpContext& context);
void embedding_lookup(OpContext& context);
void fill_rule(OpContext& context);
void fill(OpContext& context);
void rank_rule(OpContext& context);
void rank(OpContext& context);

// lstm.cpp
void lstm_rule(OpContext& context);
void lstm(OpContext& context);
void unidirectional_sequence_lstm_rule(OpContext& context);
void unidirectional_sequence_lstm(OpContext& context);
void bidirectional_sequence_lstm_rule(OpContext& context);
void bidirectional_sequence_lstm(OpContext& context);

// quantized_lstm.cpp
void quantized_lstm_rule(OpContext& context);
void quantized_lstm(OpContext& context);

// quantized_16bit_lstm.cpp
void quantized_16bit_lstm_rule(OpContext& context);
void quantized_16bit_lstm(OpContext& context);

// rnn.cpp
void rnn_rule(OpContext& context);
void rnn(OpContext& context);
void unidirectional_sequence_rnn_rule(OpContext& context);
void unidirectional_sequence_rnn(OpContext& context);
void bidirectional_sequence_rnn_rule(OpContext& context);
void bidirectional_sequence_rnn(OpContext& context);

// svdf.cpp
void svdf_rule(OpContext& context);
void svdf(OpContext& context);

// hashing.cpp
void lsh_projection_rule(OpContext& context);
void lsh_projection(OpContext& context);
void hashtable_lookup_rule(OpContext& context);
void hashtable_lookup(OpContext& context);

// random.cpp
void random_multinomial_rule(OpContext& context);
void random_multinomial(OpContext& context);

}  // namespace nnapi_convert::host
