// SPDX-License-Identifier: BSD-3-Clause
// Linear layers as FULLY_CONNECTED, which takes its input's last axis as features and gives a matrix.
#include <ATen/native/quantized/PackedParams.h>
#include <fmt/format.h>

#include "lib/base/size_hint.h"
#include "lib/ops/families.h"
#include "lib/ops/matmul.h"
#include "lib/ops/quantized_weights.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

// Returns the input's sizes with `out_features` as the last; refuses an input whose last size isn't `in_features`.
Dims linear_dims(const OpArguments& args, const TensorType& input, const Dim& in_features, const Dim& out_features) {
  require_rank(args, input, 1, 6);
  args.require(input.dims.back() == in_features, "an input " + to_text(input),
               fmt::format("a last dimension of {}", in_features.text()), kSeeInput);
  Dims dims = input.dims;
  dims.back() = out_features;
  return dims;
}

// Returns the sizes in a form that FULLY_CONNECTED takes: it reads all axes but the last as one, from rank 2 to 4.
Dims rows_of(const Dims& dims) {
  if (dims.size() >= 2 && dims.size() <= 4) return dims;
  return {product(Dims(dims.begin(), dims.end() - 1)), dims.back()};
}

std::vector<ValueType> linear_type(const OpArguments& args) {
  const TensorType input = args.tensor("input");
  const TensorType weight = args.tensor("weight");
  require_float(args, input);
  require_float(args, weight);
  require_rank(args, weight, 2, 2);
  if (!args.is_none("bias")) {
    const TensorType bias = args.tensor("bias");
    require_float(args, bias);
    require_rank(args, bias, 1, 1);
    const bool differ = bias.dims[0].is_fixed() && weight.dims[0].is_fixed() && bias.dims[0] != weight.dims[0];
    args.require(!differ, "a bias " + to_text(bias), to_text(Dims{weight.dims[0]}));
  }
  return {input.with_dims(linear_dims(args, input, weight.dims[1], weight.dims[0]))};
}

void lower_linear(OpContext& ctx) {
  const Factor input(ctx, "input");
  std::optional<nnapi::OperandId> bias;
  if (!ctx.is_none("bias")) bias = ctx.operand("bias").id;
  const Factor rows = input.reshaped(rows_of(input.dims()));
  ctx.set_output(row_product(ctx, rows, Factor(ctx, "weight"), bias).reshaped(ctx.output_type().dims).operand());
}

c10::intrusive_ptr<LinearPackedParamsBase> packed_linear(const OpArguments& args) {
  const c10::IValue packed = args.value("W_prepack");
  args.require(packed.isCustomClass(), "packed weights of another kind", "LinearPackedParamsBase");
  return packed.toCustomClass<LinearPackedParamsBase>();
}

std::vector<ValueType> quantized_linear_type(const OpArguments& args) {
  const TensorType input = args.tensor("X");
  args.require(input.dtype == at::kQUInt8, "an input " + to_text(input), "quint8");
  const at::Tensor weight = std::get<0>(packed_linear(args)->unpack());
  const Quantization output{args.number("Y_scale_i"), args.integer("Y_zero_point_i")};
  return {TensorType{at::kQUInt8, linear_dims(args, input, weight.size(1), weight.size(0)), output}};
}

// Lowers a linear layer to a convolution with a filter of 1 x 1, on rows as images of one cell: FULLY_CONNECTED takes
// no weights with a scale for each channel.
void lower_as_convolution(OpContext& ctx, const LoweredTensor& input, const QuantizedWeights& weights,
                          FuseCode activation) {
  const Dim rows = product(Dims(input.type.dims.begin(), input.type.dims.end() - 1));
  const LoweredTensor image = reshaped(ctx, input, {rows, input.type.dims.back(), Dim(1), Dim(1)});
  const TensorType output = ctx.output_type();
  const TensorType cells = output.with_dims({rows, output.dims.back(), Dim(1), Dim(1)});
  const nnapi::Operand matrix = ctx.builder().model().at(weights.filter.id);
  const std::vector<int64_t> sizes = fixed_values(matrix.dims);
  const nnapi::OperandId filter = ctx.builder().channel_tensor(
      matrix.constant()->then(nnapi::Reshape{{sizes[0], 1, 1, sizes[1]}}), matrix.channels);
  std::vector<nnapi::OperandId> inputs{image.id, filter, weights.bias};
  for (const int64_t value : {0, 0, 0, 0, 1, 1}) inputs.push_back(ctx.builder().int32(value));
  inputs.push_back(ctx.builder().int32(static_cast<int64_t>(activation)));
  inputs.push_back(ctx.builder().boolean(true));
  const nnapi::OperandId result = ctx.emit_to(OperationCode::CONV_2D, inputs, cells);
  ctx.set_output(reshaped(ctx, {result, cells}, output.dims).id);
}

template <FuseCode activation>
void lower_quantized_linear(OpContext& ctx) {
  auto [given, bias] = packed_linear(ctx)->unpack();
  const LoweredTensor whole = ctx.operand("X");
  const auto [input, weight] = with_small_product(ctx, whole, given, whole.type.rank() - 1, ctx.number("Y_scale_i"));
  const QuantizedWeights weights = quantized_weights(ctx, weight, bias, weight.size(0), input.type);
  if (weights.is_per_channel) return lower_as_convolution(ctx, input, weights, activation);
  const nnapi::OperandId fuse = ctx.builder().int32(static_cast<int64_t>(activation));
  const LoweredTensor rows = reshaped(ctx, input, rows_of(input.type.dims));
  const TensorType output = ctx.output_type();
  const Dims leading(rows.type.dims.begin(), rows.type.dims.end() - 1);
  const TensorType matrix = output.with_dims({product(leading), output.dims.back()});
  const nnapi::OperandId result =
      ctx.emit_to(OperationCode::FULLY_CONNECTED, {rows.id, weights.filter.id, weights.bias, fuse}, matrix);
  ctx.set_output(reshaped(ctx, {result, matrix}, output.dims).id);
}

constexpr const char* kQuantizedNote =
    "per-channel weights stay so for the shim; else they are requantised per tensor, with a warning";

}  // namespace

OpRules linear_rules() {
  return {
      {"aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", 1, "float32", linear_type,
       lower_linear, costing(Macs::kLinear, Rows::kVectors) | Memory::kFresh},
      {"quantized::linear(Tensor X, __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack, float "
       "Y_scale_i, int "
       "Y_zero_point_i) -> Tensor Y",
       1, kQuantizedNote, quantized_linear_type, lower_quantized_linear<FuseCode::NONE>,
       costing(Macs::kLinear, Rows::kVectors)},
      {"quantized::linear_relu(Tensor X, __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack, float "
       "Y_scale_i, int Y_zero_point_i) -> Tensor Y",
       1, kQuantizedNote, quantized_linear_type, lower_quantized_linear<FuseCode::RELU>,
       costing(Macs::kLinear, Rows::kVectors)},
  };
}

}  // namespace nnapi_convert
