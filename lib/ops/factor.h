// SPDX-License-Identifier: BSD-3-Clause
// Factor: one operand of a matrix product while lowering. Constants are reshaped, permuted and split at conversion;
// other tensors by RESHAPE, TRANSPOSE and SPLIT operations, which are left out if they change nothing.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

class Factor {
 public:
  // Takes a float32 argument of the node.
  Factor(OpContext& ctx, const std::string& name);
  Factor(OpContext& ctx, LoweredTensor tensor) : ctx_(&ctx), tensor_(std::move(tensor)) {}
  Factor(OpContext& ctx, at::Tensor constant);

  bool is_constant() const { return constant_.defined(); }
  const TensorType& type() const { return tensor_.type; }
  const Dims& dims() const { return tensor_.type.dims; }
  size_t rank() const { return dims().size(); }
  // Returns the constant. Requires is_constant().
  const at::Tensor& constant() const { return constant_; }

  Factor reshaped(const Dims& dims) const;
  Factor permuted(const std::vector<int64_t>& order) const;
  // Repeats axes of size 1 up to `dims`, of the same rank.
  Factor expanded(const Dims& dims) const;
  // Splits axis 0 into `count` equal parts.
  std::vector<Factor> split(int64_t count) const;
  Factor scaled(double factor) const;
  nnapi::OperandId operand() const;

 private:
  Factor with(OperationCode code, std::vector<nnapi::OperandId> arguments, const Dims& dims) const;

  OpContext* ctx_;
  LoweredTensor tensor_{};  // for a constant, only the type is set
  at::Tensor constant_;     // undefined for tensors that are no constants
};

// Returns the elements of an argument that is a list of tensors.
std::vector<Factor> list_of_factors(OpContext& ctx, const std::string& name);

// Append RESHAPE or TRANSPOSE if they change something; constants are changed at conversion.
LoweredTensor reshaped(OpContext& ctx, const LoweredTensor& tensor, const Dims& dims);
LoweredTensor permuted(OpContext& ctx, const LoweredTensor& tensor, const std::vector<int64_t>& order);

}  // namespace nnapi_convert
