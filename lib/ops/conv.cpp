// Convolutions. NNAPI's filters are O,H,W,I, and 1,H,W,O for depthwise ones; PyTorch's are O,I,H,W.
#include <ATen/ATen.h>
#include <ATen/native/quantized/PackedParams.h>
#include <fmt/format.h>

#include "lib/ops/families.h"
#include "lib/ops/quantized_weights.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

// A 2-D convolution as PyTorch describes it, height before width.
struct Conv {
  std::vector<int64_t> stride, padding, padding_end, dilation;
  int64_t groups = 1;
  bool transposed = false;
  std::vector<int64_t> weight_sizes;  // O, I/groups, H, W; transposed: I, O/groups, H, W

  int64_t kernel(size_t i) const { return weight_sizes[2 + i]; }
  int64_t output_channels() const { return transposed ? weight_sizes[1] * groups : weight_sizes[0]; }
  int64_t input_channels() const { return transposed ? weight_sizes[0] : weight_sizes[1] * groups; }
};

void read_string_padding(const OpArguments& args, Conv& conv) {
  const std::string padding = args.string("padding");
  conv.padding = conv.padding_end = {0, 0};
  if (padding != "same") return;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t total = conv.dilation[i] * (conv.kernel(i) - 1);
    conv.padding[i] = total / 2;
    conv.padding_end[i] = total - total / 2;
  }
}

// Reads what aten::conv2d, aten::_convolution and aten::conv_transpose2d have in common.
Conv read_conv(const OpArguments& args) {
  const TensorType input = args.tensor("input");
  require_float(args, input);
  require_rank(args, input, 4, 4);
  Conv conv;
  conv.weight_sizes = args.constant("weight").sizes().vec();
  args.require(conv.weight_sizes.size() == 4, fmt::format("a weight of rank {}", conv.weight_sizes.size()), "rank 4");
  conv.stride = args.integers("stride", 2, 1);
  conv.dilation = args.integers("dilation", 2, 1);
  conv.groups = args.integer("groups");
  if (args.input("padding")->type()->kind() == c10::TypeKind::StringType) {
    read_string_padding(args, conv);
  } else {
    conv.padding = conv.padding_end = args.integers("padding", 2, 0);
  }
  conv.transposed =
      args.has("transposed") ? args.boolean("transposed") : args.node().kind() == c10::Symbol::aten("conv_transpose2d");
  if (args.has("output_padding")) {
    const auto extra = args.integers("output_padding", 2, 0);
    args.require(extra[0] == 0 && extra[1] == 0, fmt::format("output_padding = ({}, {})", extra[0], extra[1]), "0");
  }
  return conv;
}

Dims output_dims(const OpArguments& args, const Conv& conv, const TensorType& input) {
  const Dim& channels = input.dims[1];
  args.require(channels == Dim(conv.input_channels()), fmt::format("an input {}", to_text(input)),
               fmt::format("{} channels (dimension 1)", conv.input_channels()), "see --input");
  Dims dims{input.dims[0], Dim(conv.output_channels())};
  for (size_t i = 0; i < 2; ++i) {
    const int64_t padding = conv.padding[i] + conv.padding_end[i];
    if (conv.transposed) {
      dims.push_back((input.dims[2 + i] - Dim(1)) * Dim(conv.stride[i]) + Dim(conv.kernel(i) - padding));
    } else {
      dims.push_back(window_output(input.dims[2 + i], padding, conv.dilation[i], conv.kernel(i), conv.stride[i]));
    }
  }
  require_positive(args, dims);
  return dims;
}

bool is_depthwise(const Conv& conv) {
  return conv.groups > 1 && conv.groups == conv.input_channels();
}

// PyTorch's filter in NNAPI's order.
nnapi::Constant ordered_filter(const Conv& conv, const nnapi::Constant& weight) {
  if (conv.transposed || is_depthwise(conv)) return weight.then(nnapi::Permute{{1, 2, 3, 0}});
  return weight.then(nnapi::Permute{nnapi::kToNhwc});
}

// left, right, top, bottom, stride width, stride height.
void append_window(nnapi::Builder& builder, const Conv& conv, std::vector<nnapi::OperandId>& inputs) {
  for (const int64_t value :
       {conv.padding[1], conv.padding_end[1], conv.padding[0], conv.padding_end[0], conv.stride[1], conv.stride[0]}) {
    inputs.push_back(builder.int32(value));
  }
}

void append_dilation(OpContext& ctx, const Conv& conv, std::vector<nnapi::OperandId>& inputs) {
  if (conv.dilation[0] == 1 && conv.dilation[1] == 1) return;
  inputs.push_back(ctx.builder().int32(conv.dilation[1]));
  inputs.push_back(ctx.builder().int32(conv.dilation[0]));
}

// Appends the operation for a convolution whose filter is in NNAPI's order.
void emit_conv(OpContext& ctx, const Conv& conv, nnapi::OperandId input, nnapi::OperandId filter, nnapi::OperandId bias,
               FuseCode activation) {
  nnapi::Builder& builder = ctx.builder();
  const bool dilated = conv.dilation[0] != 1 || conv.dilation[1] != 1;
  std::vector<nnapi::OperandId> inputs{input, filter, bias};
  append_window(builder, conv, inputs);
  const nnapi::OperandId fuse = builder.int32(static_cast<int64_t>(activation));
  const nnapi::OperandId nchw = builder.boolean(true);
  OperationCode code = OperationCode::CONV_2D;
  if (conv.transposed) {
    code = OperationCode::TRANSPOSE_CONV_2D;
    ctx.require(conv.groups == 1 && !dilated, fmt::format("a transposed convolution with {} groups", conv.groups),
                "no groups and no dilation");
    inputs.insert(inputs.end(), {fuse, nchw});
  } else if (is_depthwise(conv)) {
    code = OperationCode::DEPTHWISE_CONV_2D;
    inputs.push_back(builder.int32(conv.output_channels() / conv.groups));
    inputs.insert(inputs.end(), {fuse, nchw});
    append_dilation(ctx, conv, inputs);
  } else if (conv.groups > 1) {
    code = OperationCode::GROUPED_CONV_2D;
    ctx.require(!dilated, "a grouped convolution with dilation", "dilation 1");
    inputs.push_back(builder.int32(conv.groups));
    inputs.insert(inputs.end(), {fuse, nchw});
  } else {
    inputs.insert(inputs.end(), {fuse, nchw});
    append_dilation(ctx, conv, inputs);
  }
  ctx.emit(code, inputs);
}

std::vector<ValueType> conv_type(const OpArguments& args) {
  const TensorType input = args.tensor("input");
  return {input.with_dims(output_dims(args, read_conv(args), input))};
}

void lower_conv(OpContext& ctx) {
  const Conv conv = read_conv(ctx);
  const nnapi::OperandId filter = ctx.builder().tensor(ordered_filter(conv, to_constant(ctx.float_constant("weight"))));
  const auto channels = static_cast<size_t>(conv.output_channels());
  const nnapi::Constant bias = ctx.is_none("bias") ? nnapi::Constant::of_floats(std::vector<float>(channels))
                                                   : to_constant(ctx.float_constant("bias"));
  emit_conv(ctx, conv, ctx.operand("input").id, filter, ctx.builder().tensor(bias), FuseCode::NONE);
}

using PackedConv = c10::intrusive_ptr<ConvPackedParamsBase<2>>;

PackedConv packed_conv(const OpArguments& args) {
  const c10::IValue packed = args.value("packed_weight");
  args.require(packed.isCustomClass(), "packed weights of another kind", "Conv2dPackedParamsBase");
  return packed.toCustomClass<ConvPackedParamsBase<2>>();
}

Conv read_packed(const PackedConv& packed, const at::Tensor& weight) {
  Conv conv;
  conv.stride = packed->stride().vec();
  conv.padding = conv.padding_end = packed->padding().vec();
  conv.dilation = packed->dilation().vec();
  conv.groups = packed->groups();
  conv.transposed = packed->transpose();
  conv.weight_sizes = weight.sizes().vec();
  return conv;
}

std::vector<ValueType> quantized_conv_type(const OpArguments& args) {
  const TensorType input = args.tensor("qx");
  args.require(input.dtype == at::kQUInt8, "an input " + to_text(input), "quint8");
  require_rank(args, input, 4, 4);
  const PackedConv packed = packed_conv(args);
  const Conv conv = read_packed(packed, std::get<0>(packed->unpack()));
  for (const int64_t extra : packed->output_padding().vec()) {
    args.require(!conv.transposed || extra == 0, fmt::format("output_padding = {}", extra), "0");
  }
  const Quantization output{args.number("output_scale"), args.integer("output_zero_point")};
  return {TensorType{at::kQUInt8, output_dims(args, conv, input), output}};
}

template <FuseCode activation>
void lower_quantized_conv(OpContext& ctx) {
  const LoweredTensor input = ctx.operand("qx");
  const PackedConv packed = packed_conv(ctx);
  auto [weight, bias] = packed->unpack();
  const Conv conv = read_packed(packed, weight);
  const QuantizedWeights weights = quantized_weights(ctx, weight, bias, conv.output_channels(), input.type);
  const nnapi::OperandId filter =
      ctx.builder().tensor(ordered_filter(conv, weights.weight), weights.scale, weights.zero_point);
  emit_conv(ctx, conv, input.id, filter, ctx.builder().tensor(weights.bias, weights.bias_scale), activation);
}

constexpr const char* kConvNote = "constant float32 weights; grouped convolutions, dilation and NCHW: feature level 3";
constexpr const char* kTransposedNote = "constant float32 weights; no groups, dilation or output_padding";
constexpr const char* kQuantizedNote = "per-channel weights are requantised per tensor, with a warning";

}  // namespace

OpRules conv_rules() {
  return {
      {"aten::_convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, "
       "bool "
       "transposed, int[] output_padding, int groups, bool benchmark, bool deterministic, bool cudnn_enabled, bool "
       "allow_tf32) -> Tensor",
       1, kConvNote, conv_type, lower_conv},
      {"aten::_convolution.deprecated(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] "
       "dilation, bool transposed, int[] output_padding, int groups, bool benchmark, bool deterministic, bool "
       "cudnn_enabled) -> Tensor",
       1, kConvNote, conv_type, lower_conv},
      {"aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] "
       "dilation=1, int groups=1) -> Tensor",
       1, kConvNote, conv_type, lower_conv},
      {"aten::conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, str padding=\"valid\", "
       "int[2] dilation=1, int groups=1) -> Tensor",
       1, kConvNote, conv_type, lower_conv},
      {"aten::conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] "
       "padding=0, "
       "int[2] output_padding=0, int groups=1, int[2] dilation=1) -> Tensor",
       3, kTransposedNote, conv_type, lower_conv},
      {"quantized::conv2d.new(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float "
       "output_scale, int output_zero_point) -> Tensor",
       1, kQuantizedNote, quantized_conv_type, lower_quantized_conv<FuseCode::NONE>},
      {"quantized::conv2d_relu.new(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, "
       "float output_scale, int output_zero_point) -> Tensor",
       1, kQuantizedNote, quantized_conv_type, lower_quantized_conv<FuseCode::RELU>},
      {"quantized::conv_transpose2d(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, "
       "float output_scale, int output_zero_point) -> Tensor",
       3, kQuantizedNote, quantized_conv_type, lower_quantized_conv<FuseCode::NONE>},
  };
}

}  // namespace nnapi_convert
