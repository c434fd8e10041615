// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/preprocessing_check.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "lib/converter/samples/sample_limits.h"
#include "lib/converter/samples/usual_pictures.h"
#include "lib/quantise/expected_results.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Value;

constexpr size_t kNorms = 3;
constexpr size_t kMostPictures = 32;
constexpr double kUnusual = 0.05, kFar = 0.5;  // as divergences
constexpr double kClearly = 3;                 // a better choice has so many times less

// The statistics of its inputs in training that a batch norm keeps, by channel.
struct NormStatistics {
  at::Tensor mean, variance;
  double epsilon = 0;
};

std::optional<NormStatistics> statistics_of(const Node& node) {
  if (node.kind() != c10::aten::batch_norm) return std::nullopt;
  const auto constant = [&](const char* name) { return torch::jit::toIValue(node.namedInput(name)); };
  const auto mean = constant("running_mean"), variance = constant("running_var"), epsilon = constant("eps");
  const bool is_known = mean && mean->isTensor() && variance && variance->isTensor() && epsilon && epsilon->isDouble();
  if (!is_known || !mean->toTensor().defined() || !variance->toTensor().defined()) return std::nullopt;
  NormStatistics result{mean->toTensor().to(at::kDouble), variance->toTensor().to(at::kDouble), epsilon->toDouble()};
  const bool is_untrained = result.mean.eq(0).all().item().toBool() && result.variance.eq(1).all().item().toBool();
  return is_untrained ? std::nullopt : std::optional(result);
}

// The part of a model that computes the inputs of its first batch norms.
class FirstNorms {
 public:
  explicit FirstNorms(NormalisedModel model) : model_(std::move(model)) {
    torch::jit::Graph& graph = *model_.graph;
    std::vector<Value*> inputs;
    for (Node* node : graph.nodes()) {
      const std::optional<NormStatistics> statistics = statistics_of(*node);
      if (!statistics || statistics_.size() == kNorms) continue;
      statistics_.push_back(*statistics);
      torch::jit::WithInsertPoint here(node);
      // A later step may change the tensor in place.
      inputs.push_back(graph.insert(c10::aten::clone, {node->input(0)}));
    }
    while (!graph.outputs().empty()) graph.eraseOutput(0);
    for (Value* input : inputs) graph.registerOutput(input);
    torch::jit::EliminateDeadCode(model_.graph);
    if (!statistics_.empty()) code_ = std::make_unique<torch::jit::Code>(model_.graph, "first_norms");
  }

  bool any() const { return !statistics_.empty(); }

  // Returns how far the norms' inputs on the pictures are from those in training.
  double divergence(const std::vector<at::Tensor>& pictures) const {
    std::vector<at::Tensor> sums(statistics_.size()), squares(statistics_.size());
    std::vector<double> counts(statistics_.size(), 0);
    for (const at::Tensor& picture : pictures) {
      torch::jit::Stack stack = {model_.frozen._ivalue(), picture};
      torch::jit::InterpreterState(*code_).run(stack);
      for (size_t i = 0; i < statistics_.size(); ++i) {
        const at::Tensor values = stack.at(i).toTensor().to(at::kDouble).transpose(0, 1).flatten(1);
        sums[i] = sums[i].defined() ? sums[i] + values.sum(1) : values.sum(1);
        squares[i] = squares[i].defined() ? squares[i] + values.square().sum(1) : values.square().sum(1);
        counts[i] += static_cast<double>(values.size(1));
      }
    }
    double divergence = 0;
    for (size_t i = 0; i < statistics_.size(); ++i) {
      const at::Tensor mean = sums[i] / counts[i];
      divergence += divergence_of(statistics_[i], mean, squares[i] / counts[i] - mean.square());
    }
    return divergence / static_cast<double>(statistics_.size());
  }

 private:
  // Returns the divergence of normal distributions with these means and variances; the mean over the channels.
  static double divergence_of(const NormStatistics& trained, const at::Tensor& mean, const at::Tensor& variance) {
    constexpr double kMost = 10;  // so that a channel without variance doesn't outweigh all others
    const at::Tensor expected = trained.variance + trained.epsilon;
    const at::Tensor ratio = (variance.clamp_min(0) + trained.epsilon) / expected;
    const at::Tensor divergence = (ratio + (mean - trained.mean).square() / expected - 1 - ratio.log()) / 2;
    return divergence.clamp_max(kMost).mean().item().toDouble();
  }

  NormalisedModel model_;
  std::vector<NormStatistics> statistics_;
  std::unique_ptr<torch::jit::Code> code_;
};

// Pictures and their classes, taken evenly from all samples.
struct Shown {
  std::vector<at::Tensor> pictures;
  std::vector<size_t> classes;
};

Shown some_of(const CalibrationData& data, const SampleTruth& truth) {
  std::vector<size_t> used;
  for (size_t i = 0; i < data.samples.size(); ++i) {
    if (!truth.has_classes() || truth.classes[i]) used.push_back(i);
  }
  thin_out(used, kMostPictures);
  Shown shown;
  for (const size_t i : used) {
    shown.pictures.push_back(data.samples[i].front());
    if (truth.has_classes()) shown.classes.push_back(*truth.classes[i]);
  }
  return shown;
}

std::vector<at::Tensor> renormalised_all(const std::vector<at::Tensor>& pictures, const PictureChoice& given,
                                         const PictureChoice& wanted) {
  std::vector<at::Tensor> result;
  for (const at::Tensor& picture : pictures) result.push_back(renormalised(picture, given, wanted));
  return result;
}

// Returns a warning if the batch norms read other numbers than in training; otherwise an empty text.
std::string problem_of_norms(const FirstNorms& norms, const std::vector<at::Tensor>& pictures,
                             const PictureChoice& given) {
  const double found = norms.divergence(pictures);
  if (!(found > kUnusual)) return "";
  double best = found;
  std::optional<PictureChoice> better;
  for (const PictureChoice& choice : other_usual_pictures(given, pictures.front().size(1))) {
    const double divergence = norms.divergence(renormalised_all(pictures, given, choice));
    if (divergence >= best) continue;
    best = divergence;
    better = choice;
  }
  const std::string seen = fmt::format(
      "calibration: the model's first batch norms read other numbers than in training (divergence {:.3g}, up to 0.1 is "
      "usual): --mean, --std, --pixel-max or the order of colours may be wrong",
      found);
  if (better && best * kClearly < found) {
    return fmt::format("{}; {} fits best (divergence {:.2g})", seen, normalisation_text(*better), best);
  }
  return found > kFar ? seen + ", or the pictures are unlike those of training; no usual choice fits" : "";
}

// Measures how many pictures the original gets right.
class Classifier {
 public:
  Classifier(const LoadedModel& loaded, const PlannedModel& planned, const SampleTruth& truth)
      : loaded_(loaded), planned_(planned), output_(truth.output) {}

  quantise::Interval share_right(const std::vector<at::Tensor>& pictures, const std::vector<size_t>& classes) const {
    CalibrationSamples samples;
    for (const at::Tensor& picture : pictures) samples.push_back({picture});
    const ExpectedResults results = expected_results(loaded_, planned_, samples);
    quantise::Distance right;  // its rows are pictures
    right.rows = static_cast<double>(pictures.size());
    for (size_t i = 0; i < pictures.size(); ++i) {
      const std::vector<at::Tensor>& all = results.results[i];
      const auto scores = std::find_if(all.begin(), all.end(), [&](const at::Tensor& tensor) {
        return tensor.numel() == static_cast<int64_t>(output_.classes);
      });
      const bool is_right =
          scores != all.end() && scores->flatten().argmax().item().toLong() == static_cast<int64_t>(classes[i]);
      right.top1 += is_right ? 1 / right.rows : 0;
    }
    return quantise::top1_interval(right);
  }

 private:
  const LoadedModel& loaded_;
  const PlannedModel& planned_;
  quantise::ClassOutput output_;
};

// Returns a warning if the classifier is no better than chance; otherwise an empty text.
std::string problem_of_classes(const Classifier& classifier, const Shown& shown, const PictureChoice& given,
                               size_t classes) {
  const double chance = 1 / static_cast<double>(classes);
  const quantise::Interval found = classifier.share_right(shown.pictures, shown.classes);
  if (found.lowest > chance) return "";
  quantise::Interval best = found;
  std::optional<PictureChoice> better;
  for (const PictureChoice& choice : other_usual_pictures(given, shown.pictures.front().size(1))) {
    const quantise::Interval share =
        classifier.share_right(renormalised_all(shown.pictures, given, choice), shown.classes);
    if (share.lowest <= best.lowest) continue;
    best = share;
    better = choice;
  }
  const std::string seen = fmt::format(
      "calibration: the float model gets no more of {} pictures right than by chance: --mean, --std, --pixel-max, the "
      "order of colours or the classes may be wrong",
      shown.pictures.size());
  const bool is_clear = better && best.lowest > std::max(found.highest, 2 * chance);
  return is_clear ? fmt::format("{}; with {} it gets {:.0f} to {:.0f} % right", seen, normalisation_text(*better),
                                100 * best.lowest, 100 * best.highest)
                  : seen;
}

}  // namespace

void check_preprocessing(const CalibrationOptions& calibration, const CalibrationData& data, const SampleTruth& truth,
                         const PlannedModel& planned, Frontend& frontend, Diagnostics& diagnostics) {
  const bool are_bytes = planned.interface.inputs.empty() || planned.interface.inputs[0].type.dtype != at::kFloat;
  if (data.pictures.empty() || are_bytes) return;
  const c10::InferenceMode guard;
  const Shown shown = some_of(data, truth);
  if (shown.pictures.empty()) return;
  std::string problem;
  const FirstNorms norms(frontend.reference(planned.kept));
  if (norms.any()) problem = problem_of_norms(norms, shown.pictures, calibration.pictures);
  constexpr size_t kFewest = 8;  // fewer prove nothing
  const bool has_classes = truth.has_classes() && truth.output.classes > 1 && shown.classes.size() >= kFewest;
  if (problem.empty() && has_classes) {
    problem =
        problem_of_classes({frontend.loaded(), planned, truth}, shown, calibration.pictures, truth.output.classes);
  }
  if (!problem.empty()) diagnostics.warn(problem);
}

}  // namespace nnapi_convert
