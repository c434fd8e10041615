// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/expression.h"

#include <ATen/ATen.h>

#include <cmath>

#include "lib/base/error.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

// Constants of one number up to this many elements are stored; larger ones are repeated on the device.
constexpr int64_t kLargestFilled = 4096;

constexpr int kSubLevel = 2;
constexpr int kArithmeticLevel = 3;  // the level of ABS, NEG, MAXIMUM, MINIMUM...
constexpr int kIntegerAbsLevel = 4;  // NEG and MAXIMUM take integers before ABS does

// Appends ADD, SUB, MUL or DIV, which also have an activation argument.
Expression arithmetic(OperationCode code, const Expression& a, const Expression& b) {
  NNC_ASSERT(a.dtype() == b.dtype(), "operands of two dtypes");
  const Dims dims = broadcast(a.context(), a.type().dims, b.type().dims);
  const nnapi::OperandId activation = a.context().builder().int32(static_cast<int64_t>(FuseCode::NONE));
  return a.then(code, {b.id(), activation}, a.type().with_dims(dims));
}

// Appends MAXIMUM or MINIMUM.
Expression extreme(OperationCode code, const Expression& a, const Expression& b) {
  NNC_ASSERT(a.dtype() == b.dtype(), "operands of two dtypes");
  return a.then(code, {b.id()}, a.type().with_dims(broadcast(a.context(), a.type().dims, b.type().dims)));
}

bool is_constant(const Expression& x) {
  return x.context().builder().model().at(x.id()).constant() != nullptr;
}

bool has(const Expression& x, OperationCode code, int feature_level) {
  return x.context().can_use(code, feature_level);
}

}  // namespace

Expression Expression::same(double value) const {
  return nnapi_convert::constant(*ctx_, value, dtype());
}

Expression Expression::then(OperationCode code, std::vector<nnapi::OperandId> others, const TensorType& type) const {
  others.insert(others.begin(), id());
  return {*ctx_, {ctx_->emit_to(code, std::move(others), type), type}};
}

Expression Expression::then(OperationCode code, std::vector<nnapi::OperandId> others) const {
  return then(code, std::move(others), type());
}

void Expression::set_output(size_t index) const {
  const TensorType type = ctx_->output_type(index);
  if (type.is_quantized() && !tensor_.type.is_quantized()) {
    return ctx_->set_output(then(OperationCode::QUANTIZE, {}, type).id(), index);
  }
  ctx_->set_output(cast(*this, type.dtype).id(), index);
}

Expression constant(OpContext& ctx, double value, at::ScalarType dtype) {
  const TensorType type{dtype, {}, {}};
  return {ctx, {ctx.constant_operand(full_of(ctx, {}, value, dtype)), type}};
}

Expression argument(OpContext& ctx, const std::string& name) {
  return {ctx, ctx.operand(name)};
}

Expression operator+(const Expression& a, const Expression& b) {
  return arithmetic(OperationCode::ADD, a, b);
}

Expression operator-(const Expression& a, const Expression& b) {
  return has(a, OperationCode::SUB, kSubLevel) ? arithmetic(OperationCode::SUB, a, b) : a + b * -1;
}

Expression operator*(const Expression& a, const Expression& b) {
  return arithmetic(OperationCode::MUL, a, b);
}

Expression operator/(const Expression& a, const Expression& b) {
  return arithmetic(OperationCode::DIV, a, b);
}

Expression operator+(const Expression& a, double b) {
  return b == 0 ? a : a + a.same(b);
}

Expression operator-(const Expression& a, double b) {
  return a + -b;
}

Expression operator*(const Expression& a, double b) {
  return b == 1 ? a : a * a.same(b);
}

Expression operator/(const Expression& a, double b) {
  const auto factor = static_cast<float>(1 / b);
  if (a.is_float() && std::isnormal(factor)) return a * factor;
  return a / a.same(b);
}

Expression operator-(double a, const Expression& b) {
  return has(b, OperationCode::SUB, kSubLevel) ? b.same(a) - b : b * -1 + a;
}

Expression operator/(double a, const Expression& b) {
  return b.same(a) / b;
}

Expression operator-(const Expression& a) {
  return has(a, OperationCode::NEG, kArithmeticLevel) ? a.then(OperationCode::NEG) : a * -1;
}

Expression relu(const Expression& x) {
  return x.then(OperationCode::RELU);
}

Expression relu1(const Expression& x) {
  return x.then(OperationCode::RELU1);
}

Expression relu6(const Expression& x) {
  return x.then(OperationCode::RELU6);
}

Expression logistic(const Expression& x) {
  return x.then(OperationCode::LOGISTIC);
}

Expression tanh(const Expression& x) {
  return x.then(OperationCode::TANH);
}

Expression floor(const Expression& x) {
  return x.then(OperationCode::FLOOR);
}

Expression exp(const Expression& x) {
  return x.then(OperationCode::EXP);
}

Expression log(const Expression& x) {
  return x.then(OperationCode::LOG);
}

Expression sqrt(const Expression& x) {
  return x.then(OperationCode::SQRT);
}

Expression rsqrt(const Expression& x) {
  return x.then(OperationCode::RSQRT);
}

Expression sin(const Expression& x) {
  return x.then(OperationCode::SIN);
}

Expression abs(const Expression& x) {
  const bool is_integer = x.dtype() == at::kInt || x.dtype() == at::kLong;
  if (is_integer && !has(x, OperationCode::ABS, kIntegerAbsLevel)) return maximum(x, -x);
  return has(x, OperationCode::ABS, kArithmeticLevel) ? x.then(OperationCode::ABS) : relu(x) + relu(-x);
}

Expression square(const Expression& x) {
  return x * x;
}

// Rounds towards zero. The form for later levels leaves NaN as it is; RELU would make it 0 on Android.
Expression trunc(const Expression& x) {
  if (!has(x, OperationCode::SELECT, kArithmeticLevel) || !has(x, OperationCode::NEG, kArithmeticLevel)) {
    return floor(relu(x)) - floor(relu(-x));
  }
  return select(compare(OperationCode::LESS, x, x.same(0)), -floor(-x), floor(x));
}

Expression pow(const Expression& base, const Expression& exponent) {
  return extreme(OperationCode::POW, base, exponent);
}

// Returns the larger number. At levels without MAXIMUM, adds the positive difference to a constant operand: a small
// bound would be lost beside a large number otherwise.
Expression maximum(const Expression& a, const Expression& b) {
  if (has(a, OperationCode::MAXIMUM, kArithmeticLevel)) return extreme(OperationCode::MAXIMUM, a, b);
  return is_constant(a) ? relu(b - a) + a : relu(a - b) + b;
}

Expression minimum(const Expression& a, const Expression& b) {
  if (has(a, OperationCode::MINIMUM, kArithmeticLevel)) return extreme(OperationCode::MINIMUM, a, b);
  return is_constant(b) ? b - relu(b - a) : a - relu(a - b);
}

Expression maximum(const Expression& a, double b) {
  if (a.is_float() && b == 0) return relu(a);
  return has(a, OperationCode::MAXIMUM, kArithmeticLevel) ? maximum(a, a.same(b)) : relu(a - b) + b;
}

Expression minimum(const Expression& a, double b) {
  return has(a, OperationCode::MINIMUM, kArithmeticLevel) ? minimum(a, a.same(b)) : b - relu(b - a);
}

// Repeats a tensor to these sizes.
Expression expand(const Expression& x, const Dims& dims) {
  if (x.type().dims == dims) return x;
  Dims padded = x.type().dims;
  padded.insert(padded.begin(), dims.size() - padded.size(), Dim(1));
  Dims multiples;
  for (size_t i = 0; i < dims.size(); ++i) multiples.push_back(padded[i] == Dim(1) ? dims[i] : Dim(1));
  const Expression full = reshape(x, padded);
  return full.then(OperationCode::TILE, {x.context().builder().int32_tensor(multiples)}, x.type().with_dims(dims));
}

Expression filled(OpContext& ctx, double value, const TensorType& type) {
  const bool is_small = all_fixed(type.dims) && product(type.dims).value() <= kLargestFilled;
  std::vector<int64_t> sizes(std::max<size_t>(1, type.rank()), 1);
  if (is_small && type.rank() > 0) sizes = fixed_values(type.dims);
  at::Tensor number = at::full(sizes, value, at::TensorOptions(at::kDouble));
  if (type.is_quantized()) {
    const auto [scale, zero_point] = type.quantization;
    number = at::quantize_per_tensor(number.to(at::kFloat), scale, zero_point, type.dtype);
  } else {
    number = number.to(type.dtype);
  }
  const nnapi::OperandId id = ctx.constant_operand(number);
  if (is_small) return {ctx, {id, type}};
  return expand({ctx, {id, type.with_dims(to_dims(sizes))}}, type.dims);
}

Expression select(const Expression& mask, const Expression& chosen, const Expression& other) {
  return mask.then(OperationCode::SELECT, {chosen.id(), other.id()}, chosen.type());
}

Expression compare(OperationCode code, const Expression& a, const Expression& b) {
  const Dims dims = broadcast(a.context(), a.type().dims, b.type().dims);
  return a.then(code, {b.id()}, {at::kBool, dims, {}});
}

Expression cast(const Expression& x, at::ScalarType dtype) {
  if (x.dtype() == dtype) return x;
  if (dtype == at::kBool) return compare(OperationCode::NOT_EQUAL, x, x.same(0));
  const TensorType type{dtype, x.type().dims, {}};
  if (x.dtype() == at::kBool) return select(x, filled(x.context(), 1, type), filled(x.context(), 0, type));
  if (to_operand(type).type == to_operand(x.type()).type) return {x.context(), {x.id(), type}};  // int32 and int64
  return x.then(OperationCode::CAST, {}, type);
}

Expression reshape(const Expression& x, const Dims& dims) {
  if (dims == x.type().dims) return x;
  // A tensor of rank 0 is [1] in NNAPI.
  const Dims target = dims.empty() ? Dims{1} : dims;
  if (target == to_operand(x.type()).dims) return {x.context(), {x.id(), x.type().with_dims(dims)}};
  return x.then(OperationCode::RESHAPE, {x.context().builder().int32_tensor(target)}, x.type().with_dims(dims));
}

Expression transpose(const Expression& x, const std::vector<int64_t>& order) {
  const TensorType type = x.type().with_dims(nnapi::permute(x.type().dims, order));
  return x.then(OperationCode::TRANSPOSE, {x.context().builder().int32_tensor(to_dims(order))}, type);
}

Expression reduce(OperationCode code, const Expression& x, const std::vector<int64_t>& axes, bool keeps_axes) {
  if (axes.empty()) return x;
  nnapi::Builder& builder = x.context().builder();
  const nnapi::OperandId keeps =
      code == OperationCode::MEAN ? builder.int32(keeps_axes ? 1 : 0) : builder.boolean(keeps_axes);
  const TensorType type = x.type().with_dims(without_axes(x.type().dims, axes, keeps_axes));
  return x.then(code, {builder.int32_tensor(to_dims(axes)), keeps}, type);
}

Expression dequantize(const Expression& x) {
  if (!x.type().is_quantized()) return x;
  return x.then(OperationCode::DEQUANTIZE, {}, {at::kFloat, x.type().dims, {}});
}

}  // namespace nnapi_convert
