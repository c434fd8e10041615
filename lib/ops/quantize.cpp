// SPDX-License-Identifier: BSD-3-Clause
// Steps between float and quantised tensors.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include "lib/ops/families.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

// Returns an argument that is a number or a constant tensor of one number.
double number_or_tensor(const OpArguments& args, const std::string& name) {
  const c10::IValue value = args.value(name);
  return value.isTensor() ? value.toTensor().item().toDouble() : value.toScalar().toDouble();
}

std::vector<ValueType> quantize_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_float(args, self);
  require_rank(args, self, 1, kHighestRank);
  const auto dtype = static_cast<at::ScalarType>(args.integer("dtype"));
  args.require(dtype == at::kQUInt8, "dtype = " + dtype_name(dtype), "quint8");
  const Quantization quantization{number_or_tensor(args, "scale"),
                                  static_cast<int64_t>(number_or_tensor(args, "zero_point"))};
  return {TensorType{dtype, self.dims, quantization}};
}

void lower_quantize(OpContext& ctx) {
  ctx.emit(OperationCode::QUANTIZE, {ctx.operand("self").id});
}

std::vector<ValueType> dequantize_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_rank(args, self, 1, kHighestRank);
  args.require(self.dtype == at::kQUInt8 || self.dtype == at::kFloat, "a tensor " + to_text(self), "quint8");
  return {TensorType{at::kFloat, self.dims, {}}};
}

void lower_dequantize(OpContext& ctx) {
  const LoweredTensor self = ctx.operand("self");
  if (!self.type.is_quantized()) return ctx.set_output(self.id);  // PyTorch lets float tensors pass
  ctx.emit(OperationCode::DEQUANTIZE, {self.id});
}

}  // namespace

OpRules quantize_rules() {
  return {
      {"aten::quantize_per_tensor(Tensor self, float scale, int zero_point, ScalarType dtype) -> Tensor", 3,
       "to quint8", quantize_type, lower_quantize, kElementwise | Quantised::kMade | Fact::kKeepsChannels},
      {"aten::quantize_per_tensor.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, ScalarType dtype) -> "
       "Tensor",
       3, "to quint8; constant scale and zero point", quantize_type, lower_quantize,
       kElementwise | Quantised::kMade | Fact::kKeepsChannels},
      {"aten::dequantize.self(Tensor self) -> Tensor", 1, "from quint8", dequantize_type, lower_dequantize,
       kElementwise | Memory::kMayBeArgumentUnlessQuantised},
  };
}

}  // namespace nnapi_convert
