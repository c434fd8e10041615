// SPDX-License-Identifier: BSD-3-Clause
// Elementwise operations on two tensors, with broadcasting.
#include "lib/host_runtime/axes.h"
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/quantization.h"
#include "lib/host_runtime/quantization_rules.h"

namespace nnapi_convert::host {
namespace {

bool is_int32(const OpContext& context, const char* name) {
  return context.type(name) == OperandCode::TENSOR_INT32;
}

template <typename Function>
void arithmetic(OpContext& context, const Function& function) {
  if (is_int32(context, "input1")) return context.put(function(context.stored("input1"), context.stored("input2")));
  const at::Tensor numbers = function(context.real("input1"), context.real("input2"));
  context.put(to_activated_codes(numbers, context.operand("output"), activation_of(context)));
}

template <typename Function>
void elementwise(OpContext& context, const char* first, const char* second, const Function& function) {
  context.store(function(context.real(first), context.real(second)));
}

}  // namespace

void arithmetic_rule(OpContext& context) {
  if (context.code() == OperationCode::MUL && is_quantized_8bit(context.type("output"))) {
    const double product =
        static_cast<double>(context.operand("input1").scale) * static_cast<double>(context.operand("input2").scale);
    const float scale = context.operand("output").scale;
    if (!(scale > product)) {
      context.refuse("output", "scale {} found, more than input1 scale x input2 scale = {} needed", scale, product);
    }
  }
  const FuseCode activation = activation_of(context);
  if (is_int32(context, "input1") && activation != FuseCode::NONE) {
    context.refuse("activation", "{} found, TENSOR_INT32 needs 0 (NONE)", static_cast<int>(activation));
  }
  context.set_output(broadcast_dims(context, "input1", "input2"));
}

void broadcast_rule(OpContext& context) {
  if (context.code() == OperationCode::POW) return context.set_output(broadcast_dims(context, "base", "exponent"));
  if (context.code() == OperationCode::PRELU) return context.set_output(broadcast_dims(context, "input", "alpha"));
  context.set_output(broadcast_dims(context, "input1", "input2"));
}

void add(OpContext& context) {
  arithmetic(context, [](const at::Tensor& a, const at::Tensor& b) { return at::add(a, b); });
}

void sub(OpContext& context) {
  arithmetic(context, [](const at::Tensor& a, const at::Tensor& b) { return at::sub(a, b); });
}

void mul(OpContext& context) {
  arithmetic(context, [](const at::Tensor& a, const at::Tensor& b) { return at::mul(a, b); });
}

void div(OpContext& context) {
  if (!is_int32(context, "input1")) {
    return arithmetic(context, [](const at::Tensor& a, const at::Tensor& b) { return at::div(a, b); });
  }
  // NNAPI does not specify the result of a division by 0: here it is the dividend.
  const at::Tensor divisor = context.stored("input2");
  // In 64 bits: the least int32 number divided by -1 has no int32 quotient, and ends the process.
  const at::Tensor quotients =
      at::div(context.stored("input1").to(at::kLong), divisor.masked_fill(divisor.eq(0), 1).to(at::kLong), "floor");
  context.put(quotients.to(at::kInt));
}

// MAXIMUM. Where the second operand is NaN, the result is the first one, as in Android's reference.
void maximum(OpContext& context) {
  const Operand& output = context.operand("output");
  const at::Tensor a = requantized(context, "input1", output), b = requantized(context, "input2", output);
  context.put(a.is_floating_point() ? at::where(a.lt(b), b, a) : at::maximum(a, b));
}

void minimum(OpContext& context) {
  const Operand& output = context.operand("output");
  const at::Tensor a = requantized(context, "input1", output), b = requantized(context, "input2", output);
  context.put(a.is_floating_point() ? at::where(b.lt(a), b, a) : at::minimum(a, b));
}

void pow(OpContext& context) {
  elementwise(context, "base", "exponent", [](const auto& a, const auto& b) { return at::pow(a, b); });
}

void prelu(OpContext& context) {
  elementwise(context, "input", "alpha",
              [](const auto& input, const auto& alpha) { return at::where(input.ge(0), input, input.mul(alpha)); });
}

}  // namespace nnapi_convert::host
