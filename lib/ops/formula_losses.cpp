// SPDX-License-Identifier: BSD-3-Clause
// Losses of each element, which may be summed up or averaged.
#include <ATen/ATen.h>

#include <algorithm>

#include "lib/ops/formula_losses.h"
#include "lib/ops/formulas.h"

namespace nnapi_convert {
namespace {

using at::Tensor;

// Computes log(1 + exp(x)) without overflow.
Tensor soft_relu(const Tensor& x) {
  return at::relu(x) + at::log(at::exp(at::neg(at::abs(x))) + 1);
}

Tensor difference(const FormulaArguments& args) {
  return args.tensor("self") - args.tensor("target");
}

std::vector<Formed> mean_squared_error(const FormulaArguments& args) {
  const Tensor off = difference(args);
  return {reduced(args, off * off)};
}

std::vector<Formed> absolute_error(const FormulaArguments& args) {
  return {reduced(args, at::abs(difference(args)))};
}

// Computes off^2 / 2 up to the bound, and from there on a line with the bound as its slope.
Tensor huber(const Tensor& off, double bound) {
  const Tensor size = at::abs(off);
  const Tensor bounded = at::clamp_max(size, bound);
  return bounded * (size - bounded * 0.5);
}

std::vector<Formed> smooth_l1_loss(const FormulaArguments& args) {
  const double beta = args.number("beta");
  if (beta == 0) return absolute_error(args);
  return {reduced(args, huber(difference(args), beta) * (1 / beta))};
}

std::vector<Formed> huber_loss(const FormulaArguments& args) {
  return {reduced(args, huber(difference(args), args.number("delta")))};
}

// binary_cross_entropy: as in PyTorch, no logarithm is taken to be below -100.
std::vector<Formed> binary_cross_entropy(const FormulaArguments& args) {
  const Tensor x = args.tensor("self"), target = args.tensor("target"), weight = args.optional("weight");
  const Tensor hit = at::clamp_min(at::log(x), -100);
  const Tensor miss = at::clamp_min(at::log(1 - x), -100);
  const Tensor loss = at::neg(target * hit + (1 - target) * miss);
  return {reduced(args, weight.defined() ? loss * weight : loss)};
}

std::vector<Formed> binary_cross_entropy_with_logits(const FormulaArguments& args) {
  const Tensor x = args.tensor("self"), target = args.tensor("target");
  const Tensor weight = args.optional("weight"), positive = args.optional("pos_weight");
  Tensor rest = soft_relu(at::neg(x));
  if (positive.defined()) rest = rest * ((positive - 1) * target + 1);
  const Tensor loss = (1 - target) * x + rest;
  return {reduced(args, weight.defined() ? loss * weight : loss)};
}

// Computes target * log(target), which is 0 where the target is 0.
Tensor entropy(const Tensor& target) {
  return target * at::log(target + at::eq(target, 0).to(at::kFloat));
}

std::vector<Formed> kl_div(const FormulaArguments& args) {
  const Tensor x = args.tensor("self"), target = args.tensor("target");
  if (args.boolean("log_target")) return {reduced(args, at::exp(target) * (target - x))};
  return {reduced(args, entropy(target) - target * x)};
}

std::vector<Formed> soft_margin_loss(const FormulaArguments& args) {
  return {reduced(args, soft_relu(at::neg(args.tensor("self") * args.tensor("target"))))};
}

// cosine_embedding_loss: the target is 1 for rows that should be alike, -1 for others.
std::vector<Formed> cosine_embedding_loss(const FormulaArguments& args) {
  constexpr double kEpsilon = 1e-12;
  const Tensor a = args.tensor("input1"), b = args.tensor("input2"), target = args.tensor("target");
  const std::vector<int64_t> axis{std::max<int64_t>(a.dim(), b.dim()) - 1};
  const Tensor lengths = ((a * a).sum(axis) + kEpsilon) * ((b * b).sum(axis) + kEpsilon);
  const Tensor cosine = (a * b).sum(axis) * at::rsqrt(lengths);
  const Tensor alike = (1 - cosine) * at::eq(target, 1).to(at::kFloat);
  const Tensor others = at::relu(cosine - args.number("margin")) * at::eq(target, -1).to(at::kFloat);
  return {reduced(args, alike + others)};
}

}  // namespace

at::Tensor reduced(const FormulaArguments& args, const at::Tensor& loss) {
  enum Reduction { kNone = 0, kMean = 1, kSum = 2 };
  const int64_t reduction = args.integer("reduction");
  if (reduction == kNone) return loss;
  return reduction == kMean ? loss.mean() : loss.sum();
}

Formulas loss_formulas() {
  return {
      {"aten::mse_loss", nullptr, mean_squared_error},
      {"aten::l1_loss", nullptr, absolute_error},
      {"aten::smooth_l1_loss", nullptr, smooth_l1_loss},
      {"aten::huber_loss", nullptr, huber_loss},
      {"aten::binary_cross_entropy", nullptr, binary_cross_entropy},
      {"aten::binary_cross_entropy_with_logits", nullptr, binary_cross_entropy_with_logits},
      {"aten::kl_div", nullptr, kl_div},
      {"aten::soft_margin_loss", nullptr, soft_margin_loss},
      {"aten::cosine_embedding_loss", nullptr, cosine_embedding_loss},
  };
}

}  // namespace nnapi_convert
