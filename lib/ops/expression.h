// SPDX-License-Identifier: BSD-3-Clause
// Expression: a tensor while lowering, with arithmetic operators, so that a rule is written as its formula. Each
// operator appends an NNAPI operation in its best form for the feature level. Operands broadcast against each other and
// have one dtype, float32 or an integer; a number takes the dtype of the other operand.
#pragma once

#include "lib/ops/op_context.h"

namespace nnapi_convert {

class Expression {
 public:
  Expression(OpContext& ctx, LoweredTensor tensor) : ctx_(&ctx), tensor_(std::move(tensor)) {}

  OpContext& context() const { return *ctx_; }
  nnapi::OperandId id() const { return tensor_.id; }
  const TensorType& type() const { return tensor_.type; }
  at::ScalarType dtype() const { return tensor_.type.dtype; }
  bool is_float() const { return dtype() == at::kFloat; }

  // Returns a constant of the same dtype, with one element.
  Expression same(double value) const;
  // Appends an operation on this and other operands, and returns its result, of the type `type` or of this one's type.
  Expression then(OperationCode code, std::vector<nnapi::OperandId> others, const TensorType& type) const;
  Expression then(OperationCode code, std::vector<nnapi::OperandId> others = {}) const;
  // Makes this the node's output `index`; quantises or casts it to the output's type.
  void set_output(size_t index = 0) const;

 private:
  OpContext* ctx_;
  LoweredTensor tensor_;
};

// Returns a constant with one element, which broadcasts; its type has rank 0.
Expression constant(OpContext& ctx, double value, at::ScalarType dtype = at::kFloat);
// Returns a tensor argument of any dtype.
Expression argument(OpContext& ctx, const std::string& name);

Expression operator+(const Expression& a, const Expression& b);
Expression operator-(const Expression& a, const Expression& b);
Expression operator*(const Expression& a, const Expression& b);
Expression operator/(const Expression& a, const Expression& b);
Expression operator+(const Expression& a, double b);
Expression operator-(const Expression& a, double b);
Expression operator*(const Expression& a, double b);
Expression operator/(const Expression& a, double b);  // multiplies by 1 / b if that rounds like the division
Expression operator-(double a, const Expression& b);
Expression operator/(double a, const Expression& b);
Expression operator-(const Expression& a);

Expression relu(const Expression& x);
Expression relu1(const Expression& x);
Expression relu6(const Expression& x);
Expression logistic(const Expression& x);
Expression tanh(const Expression& x);
Expression floor(const Expression& x);
Expression exp(const Expression& x);
Expression log(const Expression& x);
Expression sqrt(const Expression& x);
Expression rsqrt(const Expression& x);
Expression sin(const Expression& x);
Expression abs(const Expression& x);
Expression square(const Expression& x);
Expression trunc(const Expression& x);
Expression pow(const Expression& base, const Expression& exponent);
Expression maximum(const Expression& a, const Expression& b);
Expression minimum(const Expression& a, const Expression& b);
Expression maximum(const Expression& a, double b);
Expression minimum(const Expression& a, double b);

// Repeats a tensor to these sizes.
Expression expand(const Expression& x, const Dims& dims);
// Returns a tensor of `type` with the same number in all elements.
Expression filled(OpContext& ctx, double value, const TensorType& type);
// Appends SELECT; the three tensors must have the same sizes.
Expression select(const Expression& mask, const Expression& chosen, const Expression& other);
// Appends a comparison such as EQUAL or LESS; the result is a bool tensor.
Expression compare(OperationCode code, const Expression& a, const Expression& b);
// Appends a CAST if the dtype differs; to bool a comparison with 0, from bool a choice of 1 and 0.
Expression cast(const Expression& x, at::ScalarType dtype);
// Appends a RESHAPE if the sizes differ.
Expression reshape(const Expression& x, const Dims& dims);
// Puts the axes into another order.
Expression transpose(const Expression& x, const std::vector<int64_t>& order);
// Appends a reduction such as MEAN or REDUCE_SUM along axes, which stay with size 1 or go; appends none for no axes.
Expression reduce(OperationCode code, const Expression& x, const std::vector<int64_t>& axes, bool keeps_axes);
// Dequantises a quantised tensor; returns a float tensor as it is.
Expression dequantize(const Expression& x);

}  // namespace nnapi_convert
