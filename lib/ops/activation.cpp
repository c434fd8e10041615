// Activations: one input, same shape.
#include <fmt/format.h>

#include "lib/ops/families.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

template <OperationCode code>
void lower_unary(OpContext& ctx) {
  const TensorType self = ctx.tensor("self");
  ctx.require(self.dtype == at::kFloat || self.dtype == at::kQUInt8, "a tensor " + to_text(self), "float32 or quint8");
  ctx.emit(code, {ctx.operand("self").id});
}

template <OperationCode code>
void lower_float_unary(OpContext& ctx) {
  require_float(ctx, ctx.tensor("self"));
  lower_unary<code>(ctx);
}

// Quantised sigmoid and tanh have the output scale that both PyTorch and NNAPI fix.
template <int64_t zero_point>
std::vector<ValueType> fixed_output_scale(const OpArguments& args) {
  TensorType type = args.tensor("self");
  if (type.is_quantized()) type.quantization = {zero_point == 0 ? 1.0 / 256 : 1.0 / 128, zero_point};
  return {type};
}

void lower_hardtanh(OpContext& ctx) {
  const double low = ctx.number("min_val");
  const double high = ctx.number("max_val");
  if (low == -1 && high == 1) return lower_unary<OperationCode::RELU1>(ctx);
  if (low == 0 && high == 6) return lower_unary<OperationCode::RELU6>(ctx);
  const LoweredTensor self = ctx.operand("self");
  require_float(ctx, self.type);
  const nnapi::OperandId lower = ctx.builder().tensor(nnapi::Constant::of_floats({static_cast<float>(low)}));
  const nnapi::OperandId upper = ctx.builder().tensor(nnapi::Constant::of_floats({static_cast<float>(high)}));
  const nnapi::OperandId raised = ctx.emit_to(OperationCode::MAXIMUM, {self.id, lower}, self.type);
  ctx.emit(OperationCode::MINIMUM, {raised, upper});
}

std::vector<ValueType> softmax_type(const OpArguments& args) {
  TensorType type = args.tensor("self");
  require_float(args, type);
  require_rank(args, type, 1, 4);
  return {type};
}

// Refuses a dtype argument that changes the result's type.
void require_same_dtype(const OpArguments& args) {
  if (args.is_none("dtype")) return;
  const auto dtype = static_cast<at::ScalarType>(args.integer("dtype"));
  args.require(dtype == args.tensor("self").dtype, "dtype = " + dtype_name(dtype), "None");
}

template <OperationCode code>
void lower_softmax(OpContext& ctx) {
  require_same_dtype(ctx);
  const LoweredTensor self = ctx.operand("self");
  const int64_t axis = checked_axis(ctx, ctx.integer("dim"), self.type.rank());
  const nnapi::OperandId beta = ctx.builder().float32(1.0f);
  const bool is_last_of_matrix = self.type.rank() == 2 && axis == 1;
  if (code == OperationCode::SOFTMAX && is_last_of_matrix) return ctx.emit(code, {self.id, beta});
  ctx.emit(code, {self.id, beta, ctx.builder().int32(axis)});
}

// NNAPI broadcasts the slopes from the last axis, PyTorch has one for each channel (axis 1).
void lower_prelu(OpContext& ctx) {
  const LoweredTensor self = ctx.operand("self");
  require_float(ctx, self.type);
  require_rank(ctx, self.type, 1, 4);
  const at::Tensor slopes = ctx.float_constant("weight");
  const Dim channels = self.type.rank() > 1 ? self.type.dims[1] : Dim(1);
  ctx.require(slopes.numel() == 1 || Dim(slopes.numel()) == channels,
              fmt::format("{} slopes for {}", slopes.numel(), to_text(self.type)),
              fmt::format("1, or {}, one for each channel", channels.text()));
  std::vector<int64_t> shape{slopes.numel()};
  if (slopes.numel() > 1 && self.type.rank() > 2) shape.resize(self.type.rank() - 1, 1);
  const nnapi::Constant constant = to_constant(slopes).then(nnapi::Reshape{shape});
  ctx.emit(OperationCode::PRELU, {self.id, ctx.builder().tensor(constant)});
}

void lower_leaky_relu(OpContext& ctx) {
  const LoweredTensor self = ctx.operand("self");
  require_float(ctx, self.type);
  const auto slope = static_cast<float>(ctx.number("negative_slope"));
  ctx.emit(OperationCode::PRELU, {self.id, ctx.builder().tensor(nnapi::Constant::of_floats({slope}))});
}

}  // namespace

OpRules activation_rules() {
  return {
      {"aten::relu(Tensor self) -> Tensor", 1, "", same_as_self, lower_unary<OperationCode::RELU>},
      {"aten::relu6(Tensor self) -> Tensor", 1, "", same_as_self, lower_unary<OperationCode::RELU6>},
      {"aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor", 1,
       "bounds other than (-1, 1) and (0, 6): float32, feature level 3", same_as_self, lower_hardtanh},
      {"aten::sigmoid(Tensor self) -> Tensor", 1, "", fixed_output_scale<0>, lower_unary<OperationCode::LOGISTIC>},
      {"aten::tanh(Tensor self) -> Tensor", 1, "quint8: feature level 3", fixed_output_scale<128>,
       lower_unary<OperationCode::TANH>},
      {"aten::hardswish(Tensor self) -> Tensor", 4, "float32", same_as_self,
       lower_float_unary<OperationCode::HARD_SWISH>},
      {"aten::prelu(Tensor self, Tensor weight) -> Tensor", 3, "float32, constant weight", same_as_self, lower_prelu},
      {"aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor", 3, "float32", same_as_self,
       lower_leaky_relu},
      {"aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", 1,
       "float32; all but the last dimension of a matrix: feature level 3", softmax_type,
       lower_softmax<OperationCode::SOFTMAX>},
      {"aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", 3, "float32", softmax_type,
       lower_softmax<OperationCode::LOG_SOFTMAX>},
  };
}

}  // namespace nnapi_convert
