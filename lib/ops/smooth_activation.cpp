// SPDX-License-Identifier: BSD-3-Clause
// Activations made of exponentials: sigmoid, tanh and what is composed of them. NNAPI has LOGISTIC and TANH from
// feature level 1, EXP and LOG from 3; compositions are chosen so that no intermediate overflows.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "lib/ops/exponential.h"
#include "lib/ops/expression.h"
#include "lib/ops/families.h"
#include "lib/ops/registry.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

constexpr int kSubLevel = 2;
constexpr int kExpLevel = 3;  // EXP, LOG
constexpr int kEluLevel = 4;

template <Expression (*formula)(const Expression&)>
void lower_smooth_formula(OpContext& ctx) {
  formula(dequantize(argument(ctx, tensor_name(ctx)))).set_output();
}

// The type of sigmoid and tanh. Quantised ones have the output scale that both PyTorch and NNAPI fix; integers and bool
// give float32.
template <int64_t zero_point>
std::vector<ValueType> fixed_output_scale(const OpArguments& args) {
  TensorType type = args.tensor("self");
  const bool is_integer = type.dtype == at::kInt || type.dtype == at::kLong || type.dtype == at::kBool;
  if (is_integer) return {TensorType{at::kFloat, type.dims, {}}};
  require_float_or_quantized(args, type);
  if (type.is_quantized()) type.quantization = {zero_point == 0 ? 1.0 / 256 : 1.0 / 128, zero_point};
  return {type};
}

std::vector<ValueType> hardsigmoid_type(const OpArguments& args) {
  require_float_or_quantized(args, args.tensor("self"));
  return fixed_output_scale<0>(args);
}

template <OperationCode code>
void lower_smooth_direct(OpContext& ctx) {
  const Expression self = argument(ctx, "self");
  const Expression x = self.type().is_quantized() ? self : cast(self, at::kFloat);
  x.then(code, {}, ctx.output_type()).set_output();
}

Expression silu(const Expression& x) {
  return x * logistic(x);
}

// Computes x times the normal distribution function, whose logit is nearly x * (1.2085 + 2.1868 tanh(0.0346 x^2 +
// 0.1788)): at most 9.8e-6 off, everywhere. The coefficients minimise the greatest error. With z = x / k the square
// needs no factor; k folds into the layers around the gelu. No intermediate is much larger than x^2, which half
// precision holds.
Expression gelu(const Expression& x) {
  constexpr double k = 5.3746002;
  constexpr double scale = 2.1867725 * k, offset = 1.2084777 / 2.1867725;
  const Expression z = x * (1 / k);
  const Expression slope = (tanh(square(z) + 0.17884369) + offset) * scale;
  return z * logistic(z * slope) * k;
}

// Computes gelu with one operation less: the logit is nearly z * (15.4374 - max(0, 2.9296 - z^2)^2) with z = x / k. At
// most 3.1e-5 off; for inputs between -a and a, at most 3.1e-5 of the range of the results, for each a.
Expression short_gelu(const Expression& x) {
  constexpr double k = 4.296933499051108;
  const Expression z = x * (1 / k);
  const Expression slope = 15.437424214597844 - square(relu(2.9296286466082724 - square(z)));
  return z * logistic(z * slope) * k;
}

// Returns whether a layer with weights makes the first argument, perhaps with a batch norm between.
bool follows_layer(const TorchNode& node) {
  const TorchNode* before = node.input(0)->node();
  while (before->kind() == c10::aten::batch_norm) before = before->input(0)->node();
  return find_traits(*before).multiplies();
}

// Returns whether a layer with weights reads the result, at most so many nodes behind it.
bool leads_to_layer(const TorchNode& node, int nodes) {
  for (const TorchValue* output : node.outputs()) {
    for (const torch::jit::Use& use : output->uses()) {
      if (find_traits(*use.user).multiplies() || (nodes > 1 && leads_to_layer(*use.user, nodes - 1))) return true;
    }
  }
  return false;
}

// Returns whether an error of short_gelu() is small beside later values: a layer sums many results. A result that is an
// output of the model may have any range.
bool is_between_layers(const TorchNode& node) {
  constexpr int kMostNodes = 4;  // squeeze-and-excitation pools and reshapes first
  return follows_layer(node) && leads_to_layer(node, kMostNodes);
}

// Computes gelu by tanh's formula: (1 + tanh(u)) / 2 = sigmoid(2u) with u = sqrt(2 / pi) * (x + 0.044715 x^3). In z = x
// / k, 2u is z^3 + factor * k * z.
Expression gelu_of_tanh(const Expression& x) {
  const double factor = 2 * std::sqrt(2 / M_PI);
  const double k = 1 / std::cbrt(0.044715 * factor);
  const Expression z = x * (1 / k);
  return z * logistic(z * (square(z) + factor * k)) * k;
}

void lower_gelu(OpContext& ctx) {
  const std::string approximate = ctx.string("approximate");
  const Expression x = dequantize(argument(ctx, "self"));
  ctx.require(approximate == "none" || approximate == "tanh", "approximate = " + approximate, "none or tanh");
  if (approximate == "tanh" || ctx.target().tanh_gelu) return gelu_of_tanh(x).set_output();
  const bool is_short = is_between_layers(ctx.node()) && ctx.can_use(OperationCode::SUB, kSubLevel);
  (is_short ? short_gelu(x) : gelu(x)).set_output();
}

// Computes exp(x) - 1 where x < 0; 0 elsewhere.
Expression negative_expm1(const Expression& x) {
  return expm1(minimum(x, 0));
}

// Computes scale * (max(0, x) + min(0, alpha * (exp(input_scale * x) - 1))).
Expression elu(const Expression& x, double alpha, double scale, double input_scale) {
  OpContext& ctx = x.context();
  if (ctx.can_use(OperationCode::ELU, kEluLevel) && input_scale == 1) {
    return x.then(OperationCode::ELU, {ctx.builder().float32(static_cast<float>(alpha))}) * scale;
  }
  const Expression below = negative_expm1(x * input_scale) * (alpha * scale);
  const bool is_above_line = alpha > 0 && alpha * input_scale <= 1 && scale > 0;
  return is_above_line ? maximum(x * scale, below) : relu(x) * scale + below;
}

void lower_elu(OpContext& ctx) {
  const Expression x = dequantize(argument(ctx, "self"));
  elu(x, ctx.number("alpha"), ctx.number("scale"), ctx.number("input_scale")).set_output();
}

Expression selu(const Expression& x) {
  return elu(x, 1.6732632423543772, 1.0507009873554805, 1);
}

// celu is alpha * elu(x / alpha).
void lower_celu(OpContext& ctx) {
  const double alpha = ctx.number("alpha");
  ctx.require(alpha != 0, "alpha = 0", "another number");
  const Expression x = dequantize(argument(ctx, "self"));
  if (ctx.can_use(OperationCode::ELU, kEluLevel) && alpha > 0) return (elu(x / alpha, 1, 1, 1) * alpha).set_output();
  elu(x, alpha, 1, 1 / alpha).set_output();
}

// softplus is max(0, x) + log(1 + exp(-|beta x|)) / beta; for a negative beta it has min(0, x). It is x itself where
// beta * x is above the threshold.
void lower_softplus(OpContext& ctx) {
  const Expression x = argument(ctx, "self");
  const double beta = ctx.number("beta");
  const double threshold = ctx.number("threshold");
  ctx.require(beta != 0, "beta = 0", "another number");
  const Expression straight = beta > 0 ? relu(x) : -relu(-x);
  const Expression smooth = straight + log1p_exp_minus_abs(x * beta) / beta;
  const double step_at_threshold = std::log1p(std::exp(-threshold)) / std::abs(beta);
  if (step_at_threshold < 1e-7) return smooth.set_output();
  const OperationCode above = beta > 0 ? OperationCode::GREATER : OperationCode::LESS;
  const Expression is_above = compare(above, x, x.same(threshold / beta));
  is_above.then(OperationCode::SELECT, {x.id(), smooth.id()}, x.type()).set_output();
}

Expression log_sigmoid(const Expression& x) {
  return minimum(x, 0) - log1p_exp_minus_abs(x);
}

// mish is x * tanh(log(1 + e^x)) = x * n / (n + 2) with n = e^x * (e^x + 2), and x itself where e^x is large. At levels
// without EXP, by a sigmoid: tanh(-log(r)) = (1 - r^2) / (1 + r^2).
Expression mish(const Expression& x) {
  if (x.context().can_use(OperationCode::EXP, kExpLevel)) {
    constexpr double kLargest = 20;
    const Expression power = exp(minimum(x, kLargest));
    const Expression n = power * (power + 2);
    return x * (n / (n + 2));
  }
  const Expression r2 = square(logistic(-x));
  return x * ((1 - r2) / (r2 + 1));
}

std::vector<ValueType> glu_type(const OpArguments& args) {
  TensorType type = args.tensor("self");
  require_float(args, type);
  require_rank(args, type, 1, kHighestRank);
  Dim& size = type.dims[static_cast<size_t>(checked_axis(args, args.integer("dim"), type.rank()))];
  const auto half = size.exact_div(2);
  args.require(half.has_value(), fmt::format("{} elements to halve", size.text()), "an even number",
               size.is_fixed() ? "" : "give every size of the input with --input");
  size = *half;
  return {type};
}

void lower_glu(OpContext& ctx) {
  const TensorType half = ctx.output_type();
  const int64_t axis = checked_axis(ctx, ctx.integer("dim"), half.rank());
  nnapi::Builder& builder = ctx.builder();
  const std::vector<nnapi::OperandId> inputs{ctx.operand("self").id, builder.int32(axis), builder.int32(2)};
  const auto parts = builder.add(OperationCode::SPLIT, inputs, {to_operand(half), to_operand(half)});
  (Expression(ctx, {parts[0], half}) * logistic(Expression(ctx, {parts[1], half}))).set_output();
}

// hardswish: HARD_SWISH, or x * relu6(x + 3) / 6 at levels without it.
void lower_hardswish(OpContext& ctx) {
  const Expression x = argument(ctx, tensor_name(ctx));
  if (ctx.can_use(OperationCode::HARD_SWISH, kEluLevel)) {
    return x.then(OperationCode::HARD_SWISH, {}, ctx.output_type()).set_output();
  }
  const Expression real = dequantize(x);
  (real * relu6(real + 3) / 6).set_output();
}

Expression hardsigmoid(const Expression& x) {
  return relu6(x + 3) / 6;
}

}  // namespace

OpRules smooth_activation_rules() {
  return {
      {"aten::sigmoid(Tensor self) -> Tensor", 1, "", fixed_output_scale<0>,
       lower_smooth_direct<OperationCode::LOGISTIC>, kElementwise | Memory::kFresh | Quantised::kKept},
      {"aten::tanh(Tensor self) -> Tensor", 1, "quint8: feature level 3", fixed_output_scale<128>,
       lower_smooth_direct<OperationCode::TANH>, kElementwise | Memory::kFresh},
      {"aten::silu(Tensor self) -> Tensor", 1, "float32", float_self, lower_smooth_formula<silu>,
       kElementwise | Memory::kFresh},
      {"aten::gelu(Tensor self, *, str approximate=\"none\") -> Tensor", 1,
       "the normal distribution within 1e-5, between layers within 4e-5; quint8: feature level 3",
       float_or_quantized_self, lower_gelu, kElementwise | Memory::kFresh},
      {"aten::hardsigmoid(Tensor self) -> Tensor", 1, "quint8: feature level 3", hardsigmoid_type,
       lower_smooth_formula<hardsigmoid>, kElementwise},
      {"aten::hardswish(Tensor self) -> Tensor", 1, "float32", float_self, lower_hardswish,
       kElementwise | Quantised::kKept},
      {"quantized::hardswish(Tensor input, float output_scale, int output_zero_point) -> Tensor", 3, "quint8",
       given_quantization, lower_hardswish, kUnprovedRows},
      {"aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor", 3, "float32",
       float_self, lower_elu, kElementwise},
      {"quantized::elu(Tensor self, float output_scale, int output_zero_point, Scalar alpha=1, Scalar scale=1, Scalar "
       "input_scale=1) -> Tensor",
       3, "quint8", given_quantization, lower_elu, kUnprovedRows},
      {"aten::selu(Tensor self) -> Tensor", 3, "float32", float_self, lower_smooth_formula<selu>, kElementwise},
      {"aten::celu(Tensor self, Scalar alpha=1.) -> Tensor", 3, "float32", float_self, lower_celu, kElementwise},
      {"quantized::celu(Tensor self, float output_scale, int output_zero_point, Scalar alpha=1) -> Tensor", 3, "quint8",
       given_quantization, lower_celu, kUnprovedRows},
      {"aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor", 3, "float32", float_self,
       lower_softplus, kElementwise},
      {"aten::log_sigmoid(Tensor self) -> Tensor", 3, "float32", float_self, lower_smooth_formula<log_sigmoid>,
       kUnprovedRows},
      {"aten::mish(Tensor self) -> Tensor", 2, "float32", float_self, lower_smooth_formula<mish>, kElementwise},
      {"aten::glu(Tensor self, int dim=-1) -> Tensor", 3, "float32", glu_type, lower_glu,
       kUnprovedRows | Fact::kKeepsRankAlongAxis},
  };
}

}  // namespace nnapi_convert
