// SPDX-License-Identifier: BSD-3-Clause
#include "lib/litert/option_fields.h"

#include <algorithm>
#include <iterator>

namespace nnapi_convert::litert {
namespace {

using Kind = OptionKind;

constexpr OptionField kFields[] = {
    {Options::CONV_2D, 0, "padding", Kind::kPadding},
    {Options::CONV_2D, 1, "stride_w", Kind::kInt},
    {Options::CONV_2D, 2, "stride_h", Kind::kInt},
    {Options::CONV_2D, 3, "activation", Kind::kActivation},
    {Options::CONV_2D, 4, "dilation_w", Kind::kInt, 1},
    {Options::CONV_2D, 5, "dilation_h", Kind::kInt, 1},
    {Options::DEPTHWISE_CONV_2D, 0, "padding", Kind::kPadding},
    {Options::DEPTHWISE_CONV_2D, 1, "stride_w", Kind::kInt},
    {Options::DEPTHWISE_CONV_2D, 2, "stride_h", Kind::kInt},
    {Options::DEPTHWISE_CONV_2D, 3, "depth_multiplier", Kind::kInt},
    {Options::DEPTHWISE_CONV_2D, 4, "activation", Kind::kActivation},
    {Options::DEPTHWISE_CONV_2D, 5, "dilation_w", Kind::kInt, 1},
    {Options::DEPTHWISE_CONV_2D, 6, "dilation_h", Kind::kInt, 1},
    {Options::POOL_2D, 0, "padding", Kind::kPadding},
    {Options::POOL_2D, 1, "stride_w", Kind::kInt},
    {Options::POOL_2D, 2, "stride_h", Kind::kInt},
    {Options::POOL_2D, 3, "filter_w", Kind::kInt},
    {Options::POOL_2D, 4, "filter_h", Kind::kInt},
    {Options::POOL_2D, 5, "activation", Kind::kActivation},
    {Options::FULLY_CONNECTED, 0, "activation", Kind::kActivation},
    {Options::FULLY_CONNECTED, 1, "weights_format", Kind::kMode},
    {Options::FULLY_CONNECTED, 2, "keep_num_dims", Kind::kBool},
    {Options::FULLY_CONNECTED, 3, "asymmetric_quantize_inputs", Kind::kBool},
    {Options::SOFTMAX, 0, "beta", Kind::kFloat},
    {Options::CONCATENATION, 0, "axis", Kind::kInt},
    {Options::CONCATENATION, 1, "activation", Kind::kActivation},
    {Options::ADD, 0, "activation", Kind::kActivation},
    {Options::L2_NORM, 0, "activation", Kind::kActivation},
    {Options::LOCAL_RESPONSE_NORMALIZATION, 0, "radius", Kind::kInt},
    {Options::LOCAL_RESPONSE_NORMALIZATION, 1, "bias", Kind::kFloat},
    {Options::LOCAL_RESPONSE_NORMALIZATION, 2, "alpha", Kind::kFloat},
    {Options::LOCAL_RESPONSE_NORMALIZATION, 3, "beta", Kind::kFloat},
    {Options::RESIZE_BILINEAR, 2, "align_corners", Kind::kBool},
    {Options::RESIZE_BILINEAR, 3, "half_pixel_centers", Kind::kBool},
    {Options::RESHAPE, 0, "new_shape", Kind::kInts},
    {Options::SPACE_TO_DEPTH, 0, "block_size", Kind::kInt},
    {Options::MUL, 0, "activation", Kind::kActivation},
    {Options::GATHER, 0, "axis", Kind::kInt},
    {Options::GATHER, 1, "batch_dims", Kind::kInt},
    {Options::REDUCER, 0, "keep_dims", Kind::kBool},
    {Options::SUB, 0, "activation", Kind::kActivation},
    {Options::DIV, 0, "activation", Kind::kActivation},
    {Options::STRIDED_SLICE, 0, "begin_mask", Kind::kInt},
    {Options::STRIDED_SLICE, 1, "end_mask", Kind::kInt},
    {Options::STRIDED_SLICE, 2, "ellipsis_mask", Kind::kInt},
    {Options::STRIDED_SLICE, 3, "new_axis_mask", Kind::kInt},
    {Options::STRIDED_SLICE, 4, "shrink_axis_mask", Kind::kInt},
    {Options::STRIDED_SLICE, 5, "offset", Kind::kBool},
    {Options::SPLIT, 0, "num_splits", Kind::kInt},
    {Options::CAST, 0, "in", Kind::kTensorType},
    {Options::CAST, 1, "out", Kind::kTensorType},
    {Options::ARG_MAX, 0, "output_type", Kind::kTensorType},
    {Options::TRANSPOSE_CONV, 0, "padding", Kind::kPadding},
    {Options::TRANSPOSE_CONV, 1, "stride_w", Kind::kInt},
    {Options::TRANSPOSE_CONV, 2, "stride_h", Kind::kInt},
    {Options::TRANSPOSE_CONV, 3, "activation", Kind::kActivation},
    {Options::ARG_MIN, 0, "output_type", Kind::kTensorType},
    {Options::SHAPE, 0, "out_type", Kind::kTensorType},
    {Options::PACK, 0, "values_count", Kind::kInt},
    {Options::PACK, 1, "axis", Kind::kInt},
    {Options::RESIZE_NEAREST_NEIGHBOR, 0, "align_corners", Kind::kBool},
    {Options::RESIZE_NEAREST_NEIGHBOR, 1, "half_pixel_centers", Kind::kBool},
    {Options::LEAKY_RELU, 0, "alpha", Kind::kFloat},
    {Options::MIRROR_PAD, 0, "mode", Kind::kMode},
    {Options::IF, 0, "then_subgraph", Kind::kInt},
    {Options::IF, 1, "else_subgraph", Kind::kInt},
    {Options::WHILE, 0, "cond_subgraph", Kind::kInt},
    {Options::WHILE, 1, "body_subgraph", Kind::kInt},
    {Options::DEPTH_TO_SPACE, 0, "block_size", Kind::kInt},
    {Options::BATCH_MATMUL, 0, "adj_x", Kind::kBool},
    {Options::BATCH_MATMUL, 1, "adj_y", Kind::kBool},
    {Options::BATCH_MATMUL, 2, "asymmetric_quantize_inputs", Kind::kBool},
};

}  // namespace

std::vector<OptionField> option_fields(Options table) {
  std::vector<OptionField> fields;
  std::copy_if(std::begin(kFields), std::end(kFields), std::back_inserter(fields),
               [table](const OptionField& field) { return field.table == table; });
  return fields;
}

std::string padding_name(int padding) {
  if (padding == static_cast<int>(Padding::SAME)) return "SAME";
  return padding == static_cast<int>(Padding::VALID) ? "VALID" : std::to_string(padding);
}

std::string activation_name(int activation) {
  constexpr const char* kNames[] = {"NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT"};
  const bool is_known = activation >= 0 && static_cast<size_t>(activation) < std::size(kNames);
  return is_known ? kNames[activation] : std::to_string(activation);
}

}  // namespace nnapi_convert::litert
