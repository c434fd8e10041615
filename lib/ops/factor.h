// Factor: one side of a product while lowering. The moves of a constant happen at conversion; those of a tensor of the
// model are RESHAPE, TRANSPOSE and SPLIT operations, left out where they change nothing.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

class Factor {
 public:
  // An argument of the node, float32.
  Factor(OpContext& ctx, const std::string& name);
  Factor(OpContext& ctx, LoweredTensor tensor) : ctx_(&ctx), tensor_(std::move(tensor)) {}
  Factor(OpContext& ctx, at::Tensor constant);

  bool is_constant() const { return constant_.defined(); }
  const TensorType& type() const { return tensor_.type; }
  const Dims& dims() const { return tensor_.type.dims; }
  size_t rank() const { return dims().size(); }
  // The constant; is_constant().
  const at::Tensor& constant() const { return constant_; }

  Factor reshaped(const Dims& dims) const;
  Factor permuted(const std::vector<int64_t>& order) const;
  // Repeats axes of size 1 up to `dims`, of the same rank.
  Factor expanded(const Dims& dims) const;
  // Equal parts along axis 0, `count` of them.
  std::vector<Factor> split(int64_t count) const;
  Factor scaled(double factor) const;
  nnapi::OperandId operand() const;

 private:
  Factor with(OperationCode code, std::vector<nnapi::OperandId> arguments, const Dims& dims) const;

  OpContext* ctx_;
  LoweredTensor tensor_{};  // of a constant the type only
  at::Tensor constant_;     // undefined for tensors of the model
};

// The elements of a list of tensors.
std::vector<Factor> list_of_factors(OpContext& ctx, const std::string& name);

// RESHAPE and TRANSPOSE where they change something; constants are moved at conversion.
LoweredTensor reshaped(OpContext& ctx, const LoweredTensor& tensor, const Dims& dims);
LoweredTensor permuted(OpContext& ctx, const LoweredTensor& tensor, const std::vector<int64_t>& order);

}  // namespace nnapi_convert
