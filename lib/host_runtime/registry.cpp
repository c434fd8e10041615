// The operations on offer: one row each.
#include "lib/host_runtime/kernels/kernels.h"

namespace nnapi_convert::host {
namespace {

using Op = OperationCode;

const Kernel kKernels[] = {
    {Op::ABS, unary_rule, unary},
    {Op::ADD, arithmetic_rule, add},
    {Op::ARGMAX, arg_rule, arg},
    {Op::ARGMIN, arg_rule, arg},
    {Op::AVERAGE_POOL_2D, pool_rule, average_pool},
    {Op::BATCH_MATMUL, batch_matmul_rule, batch_matmul},
    {Op::BATCH_TO_SPACE_ND, batch_to_space_rule, batch_to_space},
    {Op::CAST, same_shape_rule, cast},
    {Op::CHANNEL_SHUFFLE, channel_shuffle_rule, channel_shuffle},
    {Op::CONCATENATION, concatenation_rule, concatenation},
    {Op::CONV_2D, conv_rule, conv},
    {Op::DEPTHWISE_CONV_2D, depthwise_conv_rule, depthwise_conv},
    {Op::DEPTH_TO_SPACE, depth_to_space_rule, depth_to_space},
    {Op::DEQUANTIZE, same_shape_rule, convert},
    {Op::DIV, arithmetic_rule, div},
    {Op::ELU, elu_rule, elu},
    {Op::EMBEDDING_LOOKUP, embedding_lookup_rule, embedding_lookup},
    {Op::EQUAL, broadcast_rule, compare},
    {Op::EXP, unary_rule, unary},
    {Op::EXPAND_DIMS, expand_dims_rule, reshape},
    {Op::FILL, fill_rule, fill},
    {Op::FLOOR, unary_rule, unary},
    {Op::FULLY_CONNECTED, fully_connected_rule, fully_connected},
    {Op::GATHER, gather_rule, gather},
    {Op::GREATER, broadcast_rule, compare},
    {Op::GREATER_EQUAL, broadcast_rule, compare},
    {Op::GROUPED_CONV_2D, conv_rule, conv},
    {Op::HARD_SWISH, unary_rule, unary},
    {Op::IF, if_rule, if_else},
    {Op::INSTANCE_NORMALIZATION, instance_normalization_rule, instance_normalization},
    {Op::L2_NORMALIZATION, l2_normalization_rule, l2_normalization},
    {Op::L2_POOL_2D, pool_rule, l2_pool},
    {Op::LESS, broadcast_rule, compare},
    {Op::LESS_EQUAL, broadcast_rule, compare},
    {Op::LOCAL_RESPONSE_NORMALIZATION, local_response_normalization_rule, local_response_normalization},
    {Op::LOG, unary_rule, unary},
    {Op::LOGICAL_AND, broadcast_rule, logical},
    {Op::LOGICAL_NOT, unary_rule, unary},
    {Op::LOGICAL_OR, broadcast_rule, logical},
    {Op::LOGISTIC, unary_rule, unary},
    {Op::LOG_SOFTMAX, softmax_rule, log_softmax},
    {Op::MAXIMUM, broadcast_rule, maximum},
    {Op::MAX_POOL_2D, pool_rule, max_pool},
    {Op::MEAN, reduce_rule, mean},
    {Op::MINIMUM, broadcast_rule, minimum},
    {Op::MIRROR_PAD, mirror_pad_rule, mirror_pad},
    {Op::MUL, arithmetic_rule, mul},
    {Op::NEG, unary_rule, unary},
    {Op::NOT_EQUAL, broadcast_rule, compare},
    {Op::PACK, pack_rule, pack},
    {Op::PAD, pad_rule, pad},
    {Op::PAD_V2, pad_rule, pad},
    {Op::POW, broadcast_rule, pow},
    {Op::PRELU, broadcast_rule, prelu},
    {Op::QUANTIZE, same_shape_rule, convert},
    {Op::RANK, rank_rule, rank},
    {Op::REDUCE_ALL, reduce_rule, reduce},
    {Op::REDUCE_ANY, reduce_rule, reduce},
    {Op::REDUCE_MAX, reduce_rule, reduce},
    {Op::REDUCE_MIN, reduce_rule, reduce},
    {Op::REDUCE_PROD, reduce_rule, reduce},
    {Op::REDUCE_SUM, reduce_rule, reduce},
    {Op::RELU, unary_rule, unary},
    {Op::RELU1, unary_rule, unary},
    {Op::RELU6, unary_rule, unary},
    {Op::RESHAPE, reshape_rule, reshape},
    {Op::RESIZE_BILINEAR, resize_rule, resize_bilinear},
    {Op::RESIZE_NEAREST_NEIGHBOR, resize_rule, resize_nearest},
    {Op::REVERSE, reverse_rule, reverse},
    {Op::RSQRT, unary_rule, unary},
    {Op::SELECT, select_rule, select},
    {Op::SIN, unary_rule, unary},
    {Op::SLICE, slice_rule, slice},
    {Op::SOFTMAX, softmax_rule, softmax},
    {Op::SPACE_TO_BATCH_ND, space_to_batch_rule, space_to_batch},
    {Op::SPACE_TO_DEPTH, space_to_depth_rule, space_to_depth},
    {Op::SPLIT, split_rule, split},
    {Op::SQRT, unary_rule, unary},
    {Op::SQUEEZE, squeeze_rule, reshape},
    {Op::STRIDED_SLICE, strided_slice_rule, strided_slice},
    {Op::SUB, arithmetic_rule, sub},
    {Op::TANH, unary_rule, unary},
    {Op::TILE, tile_rule, tile},
    {Op::TOPK_V2, topk_rule, topk},
    {Op::TRANSPOSE, transpose_rule, transpose},
    {Op::TRANSPOSE_CONV_2D, transpose_conv_rule, transpose_conv},
    {Op::WHILE, while_rule, while_loop},
};

}  // namespace

const Kernel* find_kernel(OperationCode code) {
  for (const Kernel& kernel : kKernels) {
    if (kernel.code == code) return &kernel;
  }
  return nullptr;
}

}  // namespace nnapi_convert::host
