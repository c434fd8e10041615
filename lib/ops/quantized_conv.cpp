// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of quint8 with weights packed by PyTorch.
#include <ATen/ATen.h>
#include <ATen/native/quantized/PackedParams.h>
#include <fmt/format.h>

#include "lib/ops/convolution.h"
#include "lib/ops/factor.h"
#include "lib/ops/families.h"
#include "lib/ops/per_channel.h"
#include "lib/ops/quantized_weights.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

using PackedConv = c10::intrusive_ptr<ConvPackedParamsBase<2>>;

PackedConv packed_conv(const OpArguments& args) {
  const c10::IValue packed = args.value("packed_weight");
  args.require(packed.isCustomClass(), "packed weights of another kind", "Conv2dPackedParamsBase");
  return packed.toCustomClass<ConvPackedParamsBase<2>>();
}

// Returns the number of spatial axes; 1-D convolutions are packed as 2-D ones with height 1.
size_t quantized_spatial_axes(const OpArguments& args) {
  const std::string kind = args.node().kind().toQualString();
  return kind.find("1d") != std::string::npos ? 1 : 2;
}

Convolution read_packed(const PackedConv& packed, const at::Tensor& weight) {
  Convolution conv;
  conv.stride = packed->stride().vec();
  conv.padding = conv.padding_end = packed->padding().vec();
  conv.dilation = packed->dilation().vec();
  conv.groups = packed->groups();
  conv.transposed = packed->transpose();
  if (conv.transposed) conv.output_padding = packed->output_padding().vec();
  conv.weight_sizes = weight.sizes().vec();
  return conv;
}

std::vector<ValueType> quantized_conv_type(const OpArguments& args) {
  const TensorType input = args.tensor("qx");
  args.require(input.dtype == at::kQUInt8, "an input " + to_text(input), "quint8");
  const PackedConv packed = packed_conv(args);
  const Convolution conv = read_packed(packed, std::get<0>(packed->unpack()));
  const Quantization output{args.number("output_scale"), args.integer("output_zero_point")};
  return {TensorType{at::kQUInt8, convolution_dims(args, conv, input, quantized_spatial_axes(args)), output}};
}

at::Tensor with_written_zeros_int8(OpContext& ctx, Convolution& conv, const at::Tensor& weight) {
  ctx.require(weight.qscheme() == at::kPerTensorAffine && weight.q_zero_point() == 0,
              "per-channel weights of a transposed convolution with dilation, groups or output_padding",
              "weights with one scale");
  return at::_make_per_tensor_quantized_tensor(with_written_zeros(conv, weight.int_repr()), weight.q_scale(), 0);
}

// Makes the product of scales small enough (with_small_product()). Leaves groups as they are: their input can't be
// repeated.
QuantizedFactors small_product(OpContext& ctx, const LoweredTensor& input, const PackedConv& packed,
                               const at::Tensor& weight) {
  if (packed->groups() != 1 || packed->transpose()) return {input, weight};
  return with_small_product(ctx, input, weight, input.type.rank() - 1 - quantized_spatial_axes(ctx),
                            ctx.number("output_scale"));
}

LoweredTensor lowered_with(OpContext& ctx, const PackedConv& packed, const at::Tensor& given,
                           const c10::optional<at::Tensor>& bias, FuseCode activation) {
  const auto [input, weight] = small_product(ctx, ctx.operand("qx"), packed, given);
  Convolution conv = read_packed(packed, weight);
  const at::Tensor filter = needs_written_zeros(conv) ? with_written_zeros_int8(ctx, conv, weight) : weight;
  for (size_t i = 0; i < 2; ++i) conv.padding_end[i] -= conv.output_padding[i];
  const TensorType input_type = input.type;
  const auto weights = [&](int64_t count) {
    std::vector<ConvolutionWeights> parts;
    ctx.require(count == 1 || filter.qscheme() == at::kPerTensorAffine,
                "per-channel weights of a grouped convolution with dilation", "weights with one scale");
    for (int64_t i = 0; i < count; ++i) {
      const int64_t rows = filter.size(0) / count;
      const int64_t outputs = conv.output_channels() / count;
      const at::Tensor part = count == 1 ? filter : filter.narrow(0, i * rows, rows);
      const bool has_bias = bias && bias->defined();
      const auto part_bias = has_bias ? c10::optional<at::Tensor>(bias->narrow(0, i * outputs, outputs)) : c10::nullopt;
      const QuantizedWeights lowered = quantized_weights(ctx, part, part_bias, outputs, input_type);
      parts.push_back({lowered.filter, lowered.bias});
    }
    return parts;
  };
  return emit_convolution(ctx, conv, input, quantized_spatial_axes(ctx), weights, activation);
}

std::vector<WeightPart> scale_parts(OpContext& ctx, const at::Tensor& weight, const c10::optional<at::Tensor>& bias) {
  if (keeps_channels(ctx, weight)) return {{weight, bias}};
  return parts_by_scale(ctx, weight, bias, ctx.operand("qx").type);
}

// Weights that need several scales become a convolution for each scale, which gives zero in the channels of the others.
// Their sum is exact, as all have one output scale and zero point.
template <FuseCode activation>
void lower_quantized_conv(OpContext& ctx) {
  const PackedConv packed = packed_conv(ctx);
  const auto [weight, bias] = packed->unpack();
  std::optional<LoweredTensor> sum;
  for (const WeightPart& part : scale_parts(ctx, weight, bias)) {
    const LoweredTensor next = lowered_with(ctx, packed, part.weight, part.bias, activation);
    if (!sum) {
      sum = next;
      continue;
    }
    const nnapi::OperandId none = ctx.builder().int32(static_cast<int64_t>(FuseCode::NONE));
    sum->id = ctx.emit_to(OperationCode::ADD, {sum->id, next.id, none}, next.type);
  }
  ctx.set_output(sum->id);
}

constexpr const char* kQuantizedConvNote =
    "per-channel weights stay so for the shim; else they get one scale or a few, with a warning";

}  // namespace

OpRules quantized_conv_rules() {
  return {
      {"quantized::conv1d(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float "
       "output_scale, int output_zero_point) -> Tensor",
       2, kQuantizedConvNote, quantized_conv_type, lower_quantized_conv<FuseCode::NONE>,
       costing(Macs::kConvolution, Rows::kSignals)},
      {"quantized::conv1d_relu(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, "
       "float output_scale, int output_zero_point) -> Tensor",
       2, kQuantizedConvNote, quantized_conv_type, lower_quantized_conv<FuseCode::RELU>,
       costing(Macs::kConvolution, Rows::kSignals)},
      {"quantized::conv2d.new(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float "
       "output_scale, int output_zero_point) -> Tensor",
       1, kQuantizedConvNote, quantized_conv_type, lower_quantized_conv<FuseCode::NONE>,
       costing(Macs::kConvolution, Rows::kImages)},
      {"quantized::conv2d_relu.new(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, "
       "float output_scale, int output_zero_point) -> Tensor",
       1, kQuantizedConvNote, quantized_conv_type, lower_quantized_conv<FuseCode::RELU>,
       costing(Macs::kConvolution, Rows::kImages)},
      {"quantized::conv_transpose1d(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, "
       "float output_scale, int output_zero_point) -> Tensor",
       3, kQuantizedConvNote, quantized_conv_type, lower_quantized_conv<FuseCode::NONE>,
       costing(Macs::kTransposed, Rows::kSignals)},
      {"quantized::conv_transpose2d(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, "
       "float output_scale, int output_zero_point) -> Tensor",
       3, kQuantizedConvNote, quantized_conv_type, lower_quantized_conv<FuseCode::NONE>,
       costing(Macs::kTransposed, Rows::kImages)},
  };
}

}  // namespace nnapi_convert
