// Expression: a tensor while lowering, with the operators of arithmetic. Each appends an NNAPI operation in its best
// form for the feature level, so that a composition is written as its formula. Operands broadcast against each other
// and have one dtype, float32 or an integer; numbers take the dtype of what they are combined with.
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

  // A constant of the same dtype, with one element.
  Expression same(double value) const;
  // The result of an operation on this and other operands, of this one's type with other sizes.
  Expression then(OperationCode code, std::vector<nnapi::OperandId> others, const TensorType& type) const;
  Expression then(OperationCode code, std::vector<nnapi::OperandId> others = {}) const;
  // Makes it the node's output: quantised where the output is, and of its dtype.
  void set_output(size_t index = 0) const;

 private:
  OpContext* ctx_;
  LoweredTensor tensor_;
};

// A constant with one element, which broadcasts; its type has rank 0.
Expression constant(OpContext& ctx, double value, at::ScalarType dtype = at::kFloat);
// A tensor argument of any dtype.
Expression argument(OpContext& ctx, const std::string& name);

Expression operator+(const Expression& a, const Expression& b);
Expression operator-(const Expression& a, const Expression& b);
Expression operator*(const Expression& a, const Expression& b);
Expression operator/(const Expression& a, const Expression& b);
Expression operator+(const Expression& a, double b);
Expression operator-(const Expression& a, double b);
Expression operator*(const Expression& a, double b);
Expression operator/(const Expression& a, double b);  // by a factor, where that is exact to a float's rounding
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

// EQUAL, LESS and their like: a bool tensor.
Expression compare(OperationCode code, const Expression& a, const Expression& b);
// CAST, where the dtype differs; to bool, a comparison with 0.
Expression cast(const Expression& x, at::ScalarType dtype);
// RESHAPE, where the sizes differ.
Expression reshape(const Expression& x, const Dims& dims);
// The axes in another order.
Expression transpose(const Expression& x, const std::vector<int64_t>& order);
// MEAN, REDUCE_SUM and their like along axes, which stay with size 1 or go; none for no axes.
Expression reduce(OperationCode code, const Expression& x, const std::vector<int64_t>& axes, bool keeps_axes);
// The real values of a quantised tensor; float ones as they are.
Expression dequantize(const Expression& x);

}  // namespace nnapi_convert
