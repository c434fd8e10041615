// SPDX-License-Identifier: BSD-3-Clause
// Losses of scores of classes: the target names a class, or holds a probability for each.
#include <ATen/ATen.h>

#include "lib/ops/formula_losses.h"

namespace nnapi_convert {
namespace {

using at::Tensor;

enum Reduction { kNone = 0, kMean = 1, kSum = 2 };

// Returns the axis of the scores along which the classes are.
int64_t class_axis(const Tensor& scores) {
  return scores.dim() == 1 ? 0 : 1;
}

// Reshapes a vector with a number for each class so that it broadcasts against the scores.
Tensor per_class(const Tensor& values, const Tensor& scores) {
  std::vector<int64_t> sizes(static_cast<size_t>(scores.dim() - class_axis(scores)), 1);
  sizes[0] = values.numel();
  return values.reshape(sizes);
}

// Returns the class numbers 0, 1...; the ignored class gets -1, which is no target.
Tensor class_numbers(int64_t count, int64_t ignored) {
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < count; ++i) numbers.push_back(i == ignored ? -1 : i);
  return constant_of(numbers);
}

// Returns a mask that is true for the target's score.
Tensor marks_of(const Tensor& scores, const Tensor& target, int64_t ignored) {
  const int64_t axis = class_axis(scores);
  return at::eq(target.unsqueeze(axis), per_class(class_numbers(scores.size(axis), ignored), scores));
}

// Returns the weight of each target's class; 0 for an ignored target.
Tensor weights_of(const Tensor& marks, const Tensor& scores, const Tensor& weight) {
  const Tensor chosen = marks.to(at::kFloat);
  return (weight.defined() ? chosen * per_class(weight, scores) : chosen).sum({class_axis(scores)});
}

Tensor negative_log_likelihood(const Tensor& scores, const Tensor& target, const Tensor& weight, int64_t reduction,
                               int64_t ignored) {
  const Tensor marks = marks_of(scores, target, ignored);
  const Tensor chosen = at::where(marks, scores, 0).sum({class_axis(scores)});
  if (reduction != kMean && !weight.defined()) return reduction == kNone ? at::neg(chosen) : at::neg(chosen.sum());
  const Tensor weights = weights_of(marks, scores, weight);
  const Tensor losses = at::neg(weight.defined() ? chosen * weights : chosen);
  if (reduction == kNone) return losses;
  return reduction == kSum ? losses.sum() : losses.sum() / weights.sum();
}

std::vector<Formed> nll_loss(const FormulaArguments& args) {
  return {negative_log_likelihood(args.tensor("self"), args.tensor("target"), args.optional("weight"),
                                  args.integer("reduction"), args.integer("ignore_index"))};
}

// Computes the cross entropy for a target that is a probability for each class.
Tensor cross_entropy_of_shares(const FormulaArguments& args, const Tensor& scores, Tensor target) {
  const int64_t axis = class_axis(scores);
  const Tensor weight = args.optional("weight");
  const auto classes = static_cast<double>(scores.size(axis));
  const double smoothing = args.number("label_smoothing");
  if (smoothing > 0) target = target * (1 - smoothing) + smoothing / classes;
  const Tensor terms = weight.defined() ? scores * target * per_class(weight, scores) : scores * target;
  const Tensor losses = at::neg(terms.sum({axis}));
  const int64_t reduction = args.integer("reduction");
  if (reduction == kNone) return losses;
  return reduction == kSum ? losses.sum() : losses.sum() * (classes / static_cast<double>(scores.numel()));
}

// Computes the loss for label smoothing: as if all classes were the target.
Tensor smooth_loss(const Tensor& scores, const Tensor& target, const Tensor& weight, int64_t reduction,
                   int64_t ignored) {
  const int64_t axis = class_axis(scores);
  const Tensor sums = at::neg((weight.defined() ? scores * per_class(weight, scores) : scores).sum({axis}));
  const Tensor losses = sums * at::ne(target, ignored).to(at::kFloat);
  if (reduction == kNone) return losses;
  if (reduction == kSum) return losses.sum();
  return losses.sum() / weights_of(marks_of(scores, target, ignored), scores, weight).sum();
}

std::vector<Formed> cross_entropy_loss(const FormulaArguments& args) {
  const Tensor self = args.tensor("self"), target = args.tensor("target"), weight = args.optional("weight");
  const int64_t axis = class_axis(self), reduction = args.integer("reduction"), ignored = args.integer("ignore_index");
  const Tensor scores = at::log_softmax(self, axis);
  if (self.sizes() == target.sizes()) return {cross_entropy_of_shares(args, scores, target)};
  const Tensor loss = negative_log_likelihood(scores, target, weight, reduction, ignored);
  const double smoothing = args.number("label_smoothing");
  if (smoothing == 0) return {loss};
  const Tensor smooth = smooth_loss(scores, target, weight, reduction, ignored);
  return {loss * (1 - smoothing) + smooth * (smoothing / static_cast<double>(self.size(axis)))};
}

Tensor as_matrix(const Tensor& tensor) {
  return tensor.dim() > 1 ? tensor : tensor.reshape({1, -1});
}

std::vector<Formed> multi_margin_loss(const FormulaArguments& args) {
  const Tensor self = args.tensor("self"), weight = args.optional("weight");
  const Tensor scores = as_matrix(self), target = args.tensor("target").reshape({scores.size(0)});
  const int64_t classes = scores.size(1);
  const Tensor marks = marks_of(scores, target, -1);
  const Tensor own = at::where(marks, scores, 0).sum({1}, true);
  Tensor excess = at::relu(scores - own + args.number("margin"));
  if (args.number("p") == 2) excess = excess * excess;
  Tensor losses = (excess * (1 - marks.to(at::kFloat))).sum({1}) * (1 / static_cast<double>(classes));
  if (weight.defined()) losses = losses * weights_of(marks, scores, weight);
  return {reduced(args, losses.reshape(args.tensor("target").sizes()))};
}

// The targets of a row are those before its first -1. Each target's score is compared with the scores of all classes
// that are no targets.
std::vector<Formed> multilabel_margin_loss(const FormulaArguments& args) {
  constexpr int64_t kMostClasses = 512;
  const Tensor self = args.tensor("self");
  const Tensor scores = as_matrix(self), target = as_matrix(args.tensor("target"));
  const int64_t classes = scores.size(1);
  if (classes > kMostClasses) {
    throw FormulaRefused(std::to_string(classes) + " classes, all compared with each other",
                         std::to_string(kMostClasses) + " at most");
  }
  const Tensor valid = at::eq(at::cumsum(at::lt(target, 0).to(at::kFloat), 1), 0).to(at::kFloat);
  const Tensor named = at::eq(target.unsqueeze(2), class_numbers(classes, -1)).to(at::kFloat);
  const Tensor count = (named * valid.unsqueeze(2)).sum({1});
  const Tensor others = at::eq(count, 0).to(at::kFloat);
  const Tensor excess = at::relu(scores.unsqueeze(1) - scores.unsqueeze(2) + 1);
  const Tensor terms = excess * count.unsqueeze(2) * others.unsqueeze(1);
  const Tensor losses = terms.sum({1, 2}) * (1 / static_cast<double>(classes));
  return {reduced(args, self.dim() > 1 ? losses : losses.reshape({}))};
}

}  // namespace

Formulas class_loss_formulas() {
  return {
      {"aten::nll_loss", nullptr, nll_loss},
      {"aten::nll_loss2d", nullptr, nll_loss},
      {"aten::nll_loss_nd", nullptr, nll_loss},
      {"aten::cross_entropy_loss", nullptr, cross_entropy_loss},
      {"aten::multi_margin_loss", nullptr, multi_margin_loss},
      {"aten::multilabel_margin_loss", nullptr, multilabel_margin_loss},
  };
}

}  // namespace nnapi_convert
