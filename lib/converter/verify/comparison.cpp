// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/verify/comparison.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "lib/base/watched_run.h"
#include "lib/converter/verify/compared_sample.h"
#include "lib/converter/verify/run_models.h"

namespace nnapi_convert {
namespace {

// Returns a hint for inputs on which the original fails.
std::string hint_for(const VerifyRequest& request, const Metadata& metadata) {
  if (!request.inputs_file.empty()) return "";
  const auto& inputs = metadata.inputs;
  const bool is_flexible =
      std::any_of(inputs.begin(), inputs.end(), [](const MetadataInput& input) { return !all_fixed(input.type.dims); });
  return fmt::format("; its inputs were random{}: give others with {}, written by torch.save((x, ...), FILE){}",
                     is_flexible ? ", of sizes where the model takes any" : "", inputs_option(request),
                     is_flexible ? ", or other sizes with `verify --input`" : "");
}

bool are_of_same_sizes(const Tensors& one, const Tensors& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](const at::Tensor& a, const at::Tensor& b) { return a.sizes() == b.sizes(); });
}

// Measures how far the original is from the float model that it stands for. Results with another number of rows, as of
// boxes, are left out.
class OriginalErrors {
 public:
  // Only results of a model that puts numbers in order, such as boxes, may have other sizes: these have no distance.
  void add(const Tensors& meaning, std::optional<Tensors> original, const std::optional<TieRule>& ties) {
    if (!original) return;
    if (ties) match_rows(meaning, *original, *ties);
    if (ties && !are_of_same_sizes(*original, meaning)) {
      has_other_sizes_ = true;
      return;
    }
    check_same_outputs(*original, meaning);
    check_same_dtypes(*original, meaning);
    outputs_.resize(std::max(outputs_.size(), meaning.size()));
    for (size_t i = 0; i < meaning.size(); ++i) outputs_[i].add(meaning[i], (*original)[i]);
  }

  std::optional<OriginalDistance> result() const {
    if (outputs_.empty() && !has_other_sizes_) return std::nullopt;
    OriginalDistance worst{0, std::numeric_limits<double>::infinity(), has_other_sizes_};
    for (const Accumulator& output : outputs_) {
      const OutputComparison comparison = output.result({});
      worst.relative_error = std::max(worst.relative_error, comparison.relative_error);
      worst.snr_db = std::min(worst.snr_db, comparison.snr_db);
    }
    return worst;
  }

 private:
  std::vector<Accumulator> outputs_;
  bool has_other_sizes_ = false;
};

// Pooled squared distance of results from the float model's.
struct Distance {
  double squares = 0, count = 0;
  void add(const Tensors& results, const Tensors& reference) {
    for (size_t i = 0; i < results.size(); ++i) {
      const at::Tensor error = real_values(results[i]) - real_values(reference[i]);
      squares += error.square().sum().item().toDouble();
      count += static_cast<double>(error.numel());
    }
  }
  double rms() const { return std::sqrt(squares / count); }
};

// True if the results are so near that rows need not be matched.
bool are_near(const Tensors& expected, const Tensors& found, const TieRule& rule) {
  if (!are_of_same_sizes(expected, found)) return false;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].numel() == 0) continue;
    const at::Tensor one = real_values(expected[i]), other = real_values(found[i]);
    const double error = (one - other).abs().max().item().toDouble();
    const double range = (one.max() - one.min()).item().toDouble();
    if (!(error <= rule.scores * range)) return false;
  }
  return true;
}

// Keeps results while they take little memory.
class Keeper {
 public:
  explicit Keeper(KeptResults& kept) : kept_(kept) {}

  void add(const InputTuple& inputs, const Tensors& original, const Tensors& converted) {
    constexpr uint64_t kMostBytes = uint64_t{1} << 28;
    for (const Tensors* results : {&original, &converted}) {
      for (const at::Tensor& tensor : *results) bytes_ += tensor.nbytes();
    }
    if (bytes_ > kMostBytes) return drop();
    if (is_dropped_) return;
    kept_.inputs.push_back(inputs);
    kept_.original.push_back(original);
    kept_.converted.push_back(converted);
  }
  void drop() {
    is_dropped_ = true;
    kept_ = {};
  }

 private:
  KeptResults& kept_;
  uint64_t bytes_ = 0;
  bool is_dropped_ = false;
};

Tensors meant_values(Tensors tensors) {
  for (at::Tensor& tensor : tensors) {
    if (tensor.is_quantized()) tensor = tensor.dequantize();
  }
  return tensors;
}

ComparedSample compared_sample(size_t number, const Values& leaves, const Metadata& metadata, const Tensors& original,
                               const Tensors& converted) {
  ComparedSample sample;
  sample.place = std::to_string(number);
  with_tensors(leaves, [&](size_t input, const at::Tensor& tensor) {
    sample.input_names.push_back(metadata.inputs.at(input).name);
    sample.inputs.push_back(tensor);
    return tensor;
  });
  sample.inputs = meant_values(std::move(sample.inputs));
  sample.original = meant_values(original);
  sample.converted = meant_values(converted);
  return sample;
}

}  // namespace

Comparison compare_models(const ComparedModels& models, const std::vector<Values>& samples) {
  const VerifyRequest& request = models.request;
  const Metadata& metadata = models.converted.metadata;
  Comparison result;
  result.outputs.resize(metadata.outputs.size());
  Keeper keeper(result.kept);
  OriginalErrors errors_of_original;
  Distance original_distance, converted_distance;
  for (size_t number = 0; number < samples.size(); ++number) {
    tell_sign_of_life();
    const Values& sample = samples[number];
    const InputTuple for_original = assemble(models.arguments, with_original_dtypes(sample, metadata));
    const Tensors expected = run_unconverted(models.meaning != nullptr ? *models.meaning : models.original,
                                             for_original, "the original", hint_for(request, metadata));
    result.is_finite = result.is_finite && are_finite(expected);
    if (models.meaning != nullptr) {
      errors_of_original.add(expected, run_if_possible(models.original, for_original), models.ties);
    }
    Tensors found = models.run_converted(sample);
    if (request.without_torch) found = with_numbers_of(expected, std::move(found));
    keeper.add(for_original, expected, found);
    if (request.on_sample) request.on_sample(compared_sample(number, sample, metadata, expected, found));
    if (models.ties && expected.size() == found.size() && !are_near(expected, found, *models.ties)) {
      if (const auto rows = match_rows(expected, found, *models.ties)) {
        if (!result.ties) result.ties.emplace();
        result.ties->add(*rows);
        keeper.drop();
      }
    }
    check_same_outputs(expected, found);
    check_same_dtypes(expected, found);
    if (result.outputs.size() < expected.size()) result.outputs.resize(expected.size());
    for (size_t i = 0; i < expected.size(); ++i) result.outputs[i].add(expected[i], found[i]);
    if (request.on_progress) request.on_progress(number + 1, samples.size());
    if (models.reference == nullptr) continue;
    const Values floats = with_tensors(
        sample, [](size_t, const at::Tensor& tensor) { return tensor.is_quantized() ? tensor.dequantize() : tensor; });
    const Tensors truth = run_unconverted(*models.reference, assemble(models.arguments, floats), "the float reference");
    check_same_outputs(truth, found);
    original_distance.add(expected, truth);
    converted_distance.add(found, truth);
  }
  result.original = errors_of_original.result();
  if (models.reference != nullptr) {
    result.reference = ReferenceDistance{original_distance.rms(), converted_distance.rms()};
  }
  return result;
}

}  // namespace nnapi_convert
