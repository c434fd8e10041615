// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/whole_distance.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <torch/csrc/jit/serialization/import.h>

#include <cstring>
#include <filesystem>

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/host_library.h"
#include "lib/converter/emit/conversion.h"
#include "lib/converter/graph/torch_error.h"
#include "lib/quantise/distance.h"
#include "lib/quantise/slices.h"

namespace nnapi_convert {
namespace {

bool same_sizes(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].sizes() != b[i].sizes()) return false;
  }
  return true;
}

std::vector<quantise::Bytes> bytes_of(const std::vector<at::Tensor>& tensors) {
  std::vector<quantise::Bytes> result;
  for (const at::Tensor& tensor : tensors) {
    quantise::Bytes& bytes = result.emplace_back(tensor.nbytes());
    if (!bytes.empty()) std::memcpy(bytes.data(), tensor.data_ptr(), bytes.size());
  }
  return result;
}

// Writes the module and loads it again, as a phone would load it.
torch::jit::Module loaded_again(const Conversion& conversion) {
  const PendingFile file(std::filesystem::temp_directory_path() / "calibrated.pt");
  write_conversion(conversion, file.path().string());
  return torch::jit::load(file.path().string());
}

struct WholeDistance {
  // Nothing where a result has another size than the original's.
  std::optional<quantise::Distance> distance = {};
  std::optional<quantise::Accuracy> accuracy = {};
  std::optional<quantise::Score> score = {};
  std::vector<std::string> warnings = {};  // about slices of the results that lost their values
};

// Runs the written module on the samples.
std::vector<c10::IValue> module_results(const Conversion& conversion, const ExpectedResults& expected) {
  load_host_library();
  torch::jit::Module module = loaded_again(conversion);
  const c10::InferenceMode guard;
  std::vector<c10::IValue> values;
  for (const InputTuple& inputs : expected.inputs) {
    try {
      values.push_back(module.forward(inputs));
    } catch (const std::exception& error) {
      throw ConvertError(
          ExitCode::kVerificationFailed,
          fmt::format("calibration: the quantised model doesn't run on the host's NNAPI: {}", torch_reason(error)));
    }
  }
  return values;
}

std::optional<quantise::Score> score_of_module(const QuantisedPlan& quantised, const std::vector<c10::IValue>& values) {
  if (!quantised.scoring) return std::nullopt;
  std::vector<ForwardResult> named;
  for (const c10::IValue& value : values) named.push_back(named_results(value));
  const ResultScoring& scoring = *quantised.scoring;
  return quantise::Score{scoring.name, scoring.of(quantised.expected.named, "float"), scoring.of(named, "integers"),
                         scoring.is_share};
}

WholeDistance whole_distance(const Conversion& conversion, const QuantisedPlan& quantised) {
  const ExpectedResults& expected = quantised.expected;
  const SampleTruth& truth = quantised.truth;
  const std::vector<c10::IValue> values = module_results(conversion, expected);
  WholeDistance whole;
  whole.score = score_of_module(quantised, values);
  quantise::Results floats, found;
  for (size_t i = 0; i < expected.inputs.size(); ++i) {
    const std::vector<at::Tensor> results = float_results(values[i]);
    if (!same_sizes(results, expected.results[i]) || !same_sizes(results, expected.results[0])) return whole;
    floats.push_back(bytes_of(expected.results[i]));
    found.push_back(bytes_of(results));
  }
  if (found.empty() || found[0].empty()) return whole;
  const nnapi::Model model = model_of_results(expected.results[0]);
  if (truth.has_classes()) whole.accuracy = quantise::accuracy(model, truth.output, truth.classes, floats, found);
  whole.distance = quantise::distance(model, floats, found);
  whole.warnings = quantise::warnings_of_slices({model, floats, found}, [](const quantise::Cut&) -> std::string {
    return "--min-snr leaves the operations float that cost most, and --keep-float those that it names";
  });
  return whole;
}

void check_loss(double drop, const quantise::Accuracy& accuracy, size_t held_back) {
  quantise::check_loss_provable({drop}, accuracy.samples, held_back);
  if (quantise::holds({drop}, {{}, accuracy})) return;
  throw ConvertError(
      ExitCode::kNotConvertible,
      fmt::format(
          "--max-drop {:g}%: each segment keeps to it, but of the whole model the accuracy is {}: ask for less, "
          "or use --min-snr",
          100 * drop, to_text(accuracy)));
}

void check_score(double drop, const quantise::Score& score) {
  if (quantise::holds({drop}, {{}, {}, score})) return;
  throw ConvertError(
      ExitCode::kNotConvertible,
      fmt::format("--max-drop {:g}%: {}: ask for less, or use --min-snr or --keep-float", 100 * drop, to_text(score)));
}

// Checks a partitioned model against --max-drop: segments that each keep to a drop don't prove that the model does.
void check_drop(const QuantisedPlan& quantised) {
  const std::optional<double>& drop = quantised.recorded.max_drop;
  if (!drop) return;
  if (quantised.parts.score) return check_score(*drop, *quantised.parts.score);
  const std::optional<quantise::Distance>& distance = quantised.parts.distance;
  if (!distance) {
    throw ConvertError(ExitCode::kNotConvertible,
                       "--max-drop: the model's results have other sizes than the float model's, so that their top-1 "
                       "can't be compared: use --min-snr");
  }
  if (quantised.parts.accuracy) return check_loss(*drop, *quantised.parts.accuracy, quantised.parts.held_back_samples);
  quantise::Distance same = *distance;
  same.top1 = 1;
  same.rows = same.fewest_rows;
  same.proven_top1 = quantise::top1_interval(same).lowest;
  quantise::check_provable({*drop}, same, quantised.parts.held_back_samples);
  if (quantise::holds({*drop}, {*distance})) return;
  throw ConvertError(
      ExitCode::kNotConvertible,
      fmt::format("--max-drop {:g}%: each segment keeps to it, but of the model's results {:.1f}% have the float "
                  "model's top-1, of which {:.1f}% are proven: ask for less, or use --min-snr",
                  100 * *drop, 100 * distance->top1, 100 * distance->proven_top1));
}

}  // namespace

void measure_whole(const Conversion& conversion, QuantisedPlan& quantised, Diagnostics& diagnostics) {
  constexpr double kFar = 10;
  if (!quantised.expected.inputs.empty()) {
    const WholeDistance whole = whole_distance(conversion, quantised);
    quantised.parts.distance = whole.distance;
    quantised.parts.accuracy = whole.accuracy;
    quantised.parts.score = whole.score;
    check_drop(quantised);
    for (const std::string& warning : whole.warnings) diagnostics.warn(warning);
  }
  const std::optional<quantise::Distance>& distance = quantised.parts.distance;
  if (!distance || distance->is_of_integers || distance->snr_db >= kFar) return;
  diagnostics.warn(
      fmt::format("the quantised model is far from the float one: SNR {:.1f} dB; --min-snr leaves the "
                  "operations float that lose most",
                  distance->snr_db));
}

}  // namespace nnapi_convert
