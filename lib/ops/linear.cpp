// Linear layers as FULLY_CONNECTED, whose input is taken as [batch, features] and whose output has rank 2.
#include <ATen/native/quantized/PackedParams.h>
#include <fmt/format.h>

#include "lib/ops/families.h"
#include "lib/ops/quantized_weights.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

// All sizes but the last, and `features`.
Dims linear_dims(const OpArguments& args, const TensorType& input, int64_t in_features, int64_t out_features) {
  require_rank(args, input, 1, 4);
  args.require(input.dims.back() == Dim(in_features), "an input " + to_text(input),
               fmt::format("a last dimension of {}", in_features), "see --input");
  Dims dims = input.dims;
  dims.back() = Dim(out_features);
  return dims;
}

// Appends FULLY_CONNECTED, between RESHAPEs where the rank is not 2.
void emit_fully_connected(OpContext& ctx, const LoweredTensor& input, nnapi::OperandId weight, nnapi::OperandId bias,
                          FuseCode activation) {
  const nnapi::OperandId fuse = ctx.builder().int32(static_cast<int64_t>(activation));
  const TensorType output = ctx.output_type();
  if (input.type.rank() == 2) return ctx.emit(OperationCode::FULLY_CONNECTED, {input.id, weight, bias, fuse});
  Dims rows_of_input = input.type.dims;
  rows_of_input.pop_back();
  const Dim rows = product(rows_of_input);
  const TensorType flat_input = input.type.with_dims({rows, input.type.dims.back()});
  const TensorType flat_output = output.with_dims({rows, output.dims.back()});
  const nnapi::OperandId flat =
      ctx.emit_to(OperationCode::RESHAPE, {input.id, ctx.builder().int32_tensor(flat_input.dims)}, flat_input);
  const nnapi::OperandId result = ctx.emit_to(OperationCode::FULLY_CONNECTED, {flat, weight, bias, fuse}, flat_output);
  ctx.emit(OperationCode::RESHAPE, {result, ctx.builder().int32_tensor(output.dims)});
}

nnapi::Constant zeros(int64_t count) {
  return nnapi::Constant::of_floats(std::vector<float>(static_cast<size_t>(count)));
}

std::vector<ValueType> linear_type(const OpArguments& args) {
  const TensorType input = args.tensor("input");
  require_float(args, input);
  const at::Tensor weight = args.constant("weight");
  args.require(weight.dim() == 2, fmt::format("a weight of rank {}", weight.dim()), "rank 2");
  return {input.with_dims(linear_dims(args, input, weight.size(1), weight.size(0)))};
}

void lower_linear(OpContext& ctx) {
  const at::Tensor weight = ctx.float_constant("weight");
  const nnapi::Constant bias = ctx.is_none("bias") ? zeros(weight.size(0)) : to_constant(ctx.float_constant("bias"));
  emit_fully_connected(ctx, ctx.operand("input"), ctx.builder().tensor(to_constant(weight)), ctx.builder().tensor(bias),
                       FuseCode::NONE);
}

// mat1 @ mat2 with a constant mat2 of [in, out].
std::vector<ValueType> product_type(const OpArguments& args, const std::string& left, const std::string& right) {
  const TensorType input = args.tensor(left);
  require_float(args, input);
  const at::Tensor matrix = args.constant(right);
  args.require(matrix.dim() == 2, fmt::format("{} of rank {}", right, matrix.dim()), "rank 2");
  return {input.with_dims(linear_dims(args, input, matrix.size(0), matrix.size(1)))};
}

nnapi::OperandId transposed_weight(OpContext& ctx, const std::string& name) {
  // A matrix that is the transpose of a contiguous one, as traces leave it, needs no copy.
  const at::Tensor matrix = ctx.float_constant(name).t();
  return ctx.builder().tensor(to_constant(matrix));
}

std::vector<ValueType> addmm_type(const OpArguments& args) {
  require_rank(args, args.tensor("mat1"), 2, 2);
  args.require(args.number("beta") == 1 && args.number("alpha") == 1, "beta or alpha other than 1", "1");
  const at::Tensor bias = args.constant("self");
  const int64_t features = args.constant("mat2").size(1);
  args.require(bias.dim() == 1 && bias.numel() == features, fmt::format("an added tensor of {} numbers", bias.numel()),
               fmt::format("{} numbers", features));
  return product_type(args, "mat1", "mat2");
}

void lower_addmm(OpContext& ctx) {
  emit_fully_connected(ctx, ctx.operand("mat1"), transposed_weight(ctx, "mat2"),
                       ctx.builder().tensor(to_constant(ctx.float_constant("self"))), FuseCode::NONE);
}

std::vector<ValueType> matmul_type(const OpArguments& args) {
  return product_type(args, "self", "other");
}

void lower_matmul(OpContext& ctx) {
  const int64_t features = ctx.constant("other").size(1);
  emit_fully_connected(ctx, ctx.operand("self"), transposed_weight(ctx, "other"), ctx.builder().tensor(zeros(features)),
                       FuseCode::NONE);
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

template <FuseCode activation>
void lower_quantized_linear(OpContext& ctx) {
  const LoweredTensor input = ctx.operand("X");
  auto [weight, bias] = packed_linear(ctx)->unpack();
  const QuantizedWeights weights = quantized_weights(ctx, weight, bias, weight.size(0), input.type);
  const nnapi::OperandId filter = ctx.builder().tensor(weights.weight, weights.scale, weights.zero_point);
  emit_fully_connected(ctx, input, filter, ctx.builder().tensor(weights.bias, weights.bias_scale), activation);
}

constexpr const char* kQuantizedNote = "per-channel weights are requantised per tensor, with a warning";

}  // namespace

OpRules linear_rules() {
  return {
      {"aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", 1, "constant float32 weights",
       linear_type, lower_linear},
      {"aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", 1,
       "constant float32 self and mat2; beta = alpha = 1", addmm_type, lower_addmm},
      {"aten::mm(Tensor self, Tensor mat2) -> Tensor", 1, "constant float32 mat2",
       [](const OpArguments& args) { return product_type(args, "self", "mat2"); },
       [](OpContext& ctx) {
         emit_fully_connected(ctx, ctx.operand("self"), transposed_weight(ctx, "mat2"),
                              ctx.builder().tensor(zeros(ctx.constant("mat2").size(1))), FuseCode::NONE);
       }},
      {"aten::matmul(Tensor self, Tensor other) -> Tensor", 1, "constant float32 matrix other", matmul_type,
       lower_matmul},
      {"quantized::linear(Tensor X, __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack, float "
       "Y_scale_i, int "
       "Y_zero_point_i) -> Tensor Y",
       1, kQuantizedNote, quantized_linear_type, lower_quantized_linear<FuseCode::NONE>},
      {"quantized::linear_relu(Tensor X, __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack, float "
       "Y_scale_i, int Y_zero_point_i) -> Tensor Y",
       1, kQuantizedNote, quantized_linear_type, lower_quantized_linear<FuseCode::RELU>},
  };
}

}  // namespace nnapi_convert
