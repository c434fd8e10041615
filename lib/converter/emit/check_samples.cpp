// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/check_samples.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>

#include "lib/base/host_library.h"
#include "lib/base/watched_run.h"
#include "lib/converter/emit/call_sizes.h"
#include "lib/converter/emit/check_tolerance.h"
#include "lib/converter/emit/torch_runs.h"
#include "lib/converter/frontend/index_range.h"
#include "lib/converter/graph/torch_error.h"
#include "lib/converter/load/newer_operators.h"
#include "lib/format/buffer_samples.h"
#include "lib/nnapi/stored_form.h"
#include "lib/nnapi/validate.h"
#include "lib/ops/value_range.h"
#include "lib/quantise/check_inputs.h"
#include "lib/quantise/host_model.h"
#include "lib/quantise/trial_samples.h"
#include "lib/serialize/buffer_words.h"

namespace nnapi_convert {
namespace {

constexpr double kShareOfFile = 0.01;
constexpr size_t kPageBytes = 16384;  // the weights' place in the file begins at a multiple
// A device rounds in each operation. A small noise in the inputs, relative to their size, estimates what the rounding
// may come to: where boxes are exponentials of large numbers, a float network turns 1e-6 into 1e-3 of the range.
constexpr double kNoise = 1e-6, kTimesNoise = 30;
// Quantised numbers round by a step, a 255th, in each operation; n operations together by some root of n steps. For
// floats computed of quantised numbers, noise in the inputs estimates what steps come to: an exponential has no steps
// of its own.
constexpr double kStep = 1.0 / 255, kTimesRootOfSteps = 2;
// Products of quantised numbers may be rounded once or twice; a device's outputs may be kTimesRounding times as far off
// as these two are from each other.
constexpr double kTimesRounding = 2;

// A device may choose otherwise, as by argmax, where noise of this size changes the choice: in float32 the first, in
// half precision the second.
constexpr double kChoiceNoise = 1e-4, kHalfChoiceNoise = 4e-3;
constexpr uint64_t kChoiceDraws = 2;
constexpr double kOtherChoice = 0.01;  // share of the range: a larger difference is another choice

// Random errors of inputs, by their standard deviation: relative to each element, and to the tensor's range.
struct Noise {
  double of_element = 0, of_range = 0;
  uint64_t seed = 1;
  bool is_none() const { return of_element == 0 && of_range == 0; }
};
constexpr size_t kFewestElements = 16;  // of each output are kept, if it has so many

// Returns the step between the elements that a sample keeps, at most `most`. It has no factor in common with the number
// of channels, `innermost`, so that each channel gets its share.
uint32_t step_of(int64_t elements, int64_t innermost, size_t most) {
  int64_t step = (elements + static_cast<int64_t>(most) - 1) / static_cast<int64_t>(most);
  while (step > 1 && std::gcd(step, innermost) != 1) ++step;
  return static_cast<uint32_t>(std::max<int64_t>(step, 1));
}

BufferSampleOutput sample_output(const NnapiPart& part, size_t number, const at::Tensor& physical, bool relaxed,
                                 size_t most_elements, const CheckTolerance& least, Candidates candidates) {
  BufferSampleOutput output;
  if (physical.numel() == 0) throw NoSample("an output has no elements");
  const at::Tensor real = physical.to(at::kDouble);
  if (!real.isfinite().all().item().toBool()) throw NoSample("an output is not finite");
  const double lowest = real.min().item().toDouble(), highest = real.max().item().toDouble();
  const CheckTolerance tolerance = check_tolerance(part, number, relaxed, lowest, highest, candidates);
  output.lowest = static_cast<float>(lowest);
  output.highest = static_cast<float>(highest);
  output.most_difference = static_cast<float>(std::max(tolerance.most, least.most));
  output.root_mean_square = static_cast<float>(std::max(tolerance.root_mean_square, least.root_mean_square));
  output.step = step_of(physical.numel(), physical.size(-1), most_elements);
  output.kept = check_bytes(physical.reshape({-1}).slice(0, 0, c10::nullopt, output.step));
  return output;
}

// Returns NNAPI's output `number`, made of the caller's results.
at::Tensor physical_output(const NnapiPart& part, size_t number, const std::vector<at::Tensor>& results) {
  const nnapi::Boundary& boundary = part.model.outputs[number];
  for (size_t i = 0; i < part.interface.outputs.size(); ++i) {
    const InterfaceOutput& output = part.interface.outputs[i];
    if (output.source != InterfaceOutput::Source::kNnapi || output.index != number) continue;
    // NNAPI has no tensor of rank 0.
    const at::Tensor& result = results.at(i);
    return to_physical(result.dim() == 0 ? result.reshape({1}) : result, part.model.at(boundary.operand), boundary);
  }
  throw NoSample("an output of NNAPI is none of the caller's");
}

// Runs the model on inputs, with the noise added to floats among them, and returns NNAPI's outputs. Returns nothing if
// a quantised model would run on the host's NNAPI with noise.
using RunPhysical = std::function<std::vector<at::Tensor>(const CheckInputs&, const Noise& noise)>;

// Runs a model on the host's NNAPI that is quantised by data or has int8 weights, as TorchScript's model is neither.
RunPhysical run_on_host(const NnapiPart& part);

class PartSamples {
 public:
  PartSamples(const NnapiPart& part, const ConvertOptions& options, IndexRanges ranges, CallSizes call_sizes)
      : part_(part), options_(options), ranges_(std::move(ranges)), call_sizes_(std::move(call_sizes)) {}

  // Returns the samples that fit into the budget. Throws NoSample with the reason why there are none.
  std::vector<BufferSample> make(const RunPhysical& run, const BundledInputs& data, size_t budget_words) {
    if (has(OperationCode::RANDOM_MULTINOMIAL)) throw NoSample("the model takes random numbers");
    if (has(OperationCode::WHILE)) throw NoSample("the model has loops, which may run for long");
    if (data.empty() && (has(OperationCode::ROI_ALIGN) || has(OperationCode::ROI_POOLING))) {
      throw NoSample("regions of a picture can't be made up");
    }
    std::vector<BufferSample> samples;
    const auto count = static_cast<size_t>(options_.check_samples);
    for (size_t wanted = count; wanted > 0 && samples.empty(); --wanted) {
      const size_t budget = budget_words / wanted;
      if (budget < fewest_words()) continue;
      for (size_t number = 0; number < wanted; ++number) {
        const InputTuple* real = data.empty() ? nullptr : &data[number % data.size()];
        samples.push_back(make_finite(run, static_cast<uint32_t>(number), real, budget));
      }
    }
    if (samples.empty()) throw NoSample("a sample takes more than a hundredth of the file");
    return samples;
  }

 private:
  bool has(OperationCode code) const {
    const auto models = nnapi::with_subgraphs(part_.model);
    return std::any_of(models.begin(), models.end(), [&](const nnapi::Model* model) {
      return std::any_of(model->operations.begin(), model->operations.end(),
                         [&](const nnapi::Operation& operation) { return operation.code == code; });
    });
  }

  size_t head_words() const {
    size_t words = 2;  // the number of samples, and the sample's own
    for (const InterfaceInput& input : part_.interface.inputs) words += input.type.rank();
    words += part_.model.inputs.size() * (1 + buffer_samples::kUniformWords);
    return words + part_.model.outputs.size() * buffer_samples::kOutputWords;
  }
  size_t fewest_words() const { return head_words() + part_.model.outputs.size() * kFewestElements; }

  BufferSample make_finite(const RunPhysical& run, uint32_t number, const InputTuple* real, size_t budget) {
    // A logarithm or a root may need positive numbers, and a mask may need flags.
    std::vector<MadeNumbers> tries = {{false, false}, {true, false}};
    const std::vector<InterfaceInput>& inputs = part_.interface.inputs;
    const bool has_integers = std::any_of(inputs.begin(), inputs.end(), [](const InterfaceInput& input) {
      return c10::isIntegralType(input.type.dtype, false);
    });
    if (has_integers) tries.insert(tries.end(), {{false, true}, {true, true}});
    for (size_t i = 0; i + 1 < tries.size(); ++i) {
      try {
        return make_one(run, number, real, budget, tries[i]);
      } catch (const NoSample&) {
        if (real != nullptr) throw;
      }
    }
    return make_one(run, number, real, budget, tries.back());
  }

  // Measures how far noise moves the outputs. Leaves out results that quantised numbers stand for: their tolerances are
  // in steps.
  void measure_noise(const CheckInputs& inputs, const std::vector<at::Tensor>& outputs, const RunPhysical& run) {
    least_.assign(outputs.size(), {});
    const size_t quantised = quantised_operations(part_.model);
    std::vector<size_t> measured;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].numel() > 0 && (quantised == 0 || is_computed_of_floats(part_, i))) measured.push_back(i);
    }
    if (measured.empty()) return;
    const double times = quantised > 0 ? kTimesRootOfSteps * std::sqrt(static_cast<double>(quantised)) : kTimesNoise;
    const std::vector<at::Tensor> with_noise = run(inputs, quantised > 0 ? Noise{0, kStep} : Noise{kNoise, 0});
    if (with_noise.empty()) return;
    for (const size_t i : measured) {
      const at::Tensor moved = (outputs[i].to(at::kDouble) - with_noise[i].to(at::kDouble)).abs();
      const auto most = moved.max().item<double>(), square = moved.square().mean().item<double>();
      if (std::isfinite(most)) least_[i] = {times * most, times * std::sqrt(square)};
    }
  }

  // Measures how far rounding products twice moves the outputs from rounding once: both are right.
  void measure_rounding(const CheckInputs& inputs) {
    if (quantised_operations(part_.model) == 0) return;
    const std::vector<at::Tensor> once = on_host(inputs);
    const HostRoundsTwice rounding;
    const std::vector<at::Tensor> twice = on_host(inputs);
    for (size_t i = 0; i < once.size(); ++i) {
      if (once[i].numel() == 0 || is_chosen(part_.model, i)) continue;
      const at::Tensor moved = (once[i].to(at::kDouble) - twice[i].to(at::kDouble)).abs();
      const auto most = moved.max().item<double>(), square = moved.square().mean().item<double>();
      if (!std::isfinite(most)) continue;
      least_[i].most = std::max(least_[i].most, kTimesRounding * most);
      least_[i].root_mean_square = std::max(least_[i].root_mean_square, kTimesRounding * std::sqrt(square));
    }
  }

  // Throws NoSample where a result has another size than the graph says: the file would be damaged.
  void check_sizes(const CheckInputs& inputs, const std::vector<at::Tensor>& outputs) const {
    const auto size_of = [&](int input, int axis) {
      return inputs.callers().at(static_cast<size_t>(input)).size(axis);
    };
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Dims& dims = part_.model.at(part_.model.outputs[i].operand).dims;
      if (outputs[i].numel() == product(dims).evaluate(size_of)) continue;
      throw NoSample(fmt::format("a result has {} elements at the sample's sizes, and {} by the graph",
                                 outputs[i].numel(), product(dims).evaluate(size_of)));
    }
  }

  std::vector<at::Tensor> on_host(const CheckInputs& inputs) {
    if (!host_) host_ = run_on_host(part_);
    return host_(inputs, {});
  }

  // Finds the chosen outputs that other devices may choose otherwise: all of quantised candidates; those that noise in
  // the inputs changes; and, as equal candidates stay equal with noise, those that the host's NNAPI chooses otherwise.
  std::vector<Candidates> candidates(const CheckInputs& inputs, const std::vector<at::Tensor>& outputs,
                                     const RunPhysical& run) {
    std::vector<Candidates> found(outputs.size(), Candidates::kNone);
    const bool is_quantised = quantised_operations(part_.model) > 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (is_chosen(part_.model, i)) found[i] = is_quantised ? Candidates::kNear : Candidates::kApart;
    }
    if (std::find(found.begin(), found.end(), Candidates::kApart) == found.end()) return found;
    const auto compare = [&](const std::vector<at::Tensor>& others) {
      for (size_t i = 0; i < others.size(); ++i) {
        if (found[i] == Candidates::kApart && is_other_choice(outputs[i], others[i])) found[i] = Candidates::kNear;
      }
    };
    const double size = is_rounded_by_half() ? kHalfChoiceNoise : kChoiceNoise;
    for (uint64_t seed = 1; seed <= kChoiceDraws; ++seed) compare(run(inputs, {size, 0, seed}));
    compare(on_host(inputs));
    return found;
  }

  static bool is_other_choice(const at::Tensor& one, const at::Tensor& other) {
    const at::Tensor expected = one.reshape({-1}).to(at::kDouble), found = other.reshape({-1}).to(at::kDouble);
    const at::Tensor range = expected.max() - expected.min();
    return ((expected - found).abs() > range * kOtherChoice).any().item<bool>();
  }

  bool is_rounded_by_half() const { return part_.is_relaxed(options_) || options_.tanh_gelu; }

  BufferSample make_one(const RunPhysical& run, uint32_t number, const InputTuple* real, size_t budget,
                        const MadeNumbers& numbers) {
    CheckInputs inputs(part_, ranges_, numbers, call_sizes_);
    const size_t spare = budget - fewest_words();
    inputs.make(number, real, 4 * (spare / 2 / std::max<size_t>(part_.model.inputs.size(), 1)));
    BufferSample sample = inputs.sample();
    const std::vector<at::Tensor> outputs = run(inputs, {});
    check_sizes(inputs, outputs);
    if (number == 0) {
      measure_noise(inputs, outputs, run);
      measure_rounding(inputs);
    }
    const size_t outside = word_count(sample) + part_.model.outputs.size() * buffer_samples::kOutputWords;
    const size_t each = (budget - std::min(budget, outside)) / part_.model.outputs.size();
    const std::vector<Candidates> candidates_of = candidates(inputs, outputs, run);
    for (size_t i = 0; i < part_.model.outputs.size(); ++i) {
      const size_t elements = std::max(kFewestElements, each * 4 / outputs[i].element_size());
      sample.outputs.push_back(
          sample_output(part_, i, outputs[i], is_rounded_by_half(), elements, least_.at(i), candidates_of[i]));
    }
    return sample;
  }

  const NnapiPart& part_;
  const ConvertOptions& options_;
  IndexRanges ranges_;
  CallSizes call_sizes_;
  std::vector<CheckTolerance> least_;  // of each output
  RunPhysical host_;                   // made where it is needed
};

// Samples may take 1 % of the file. The size of its names isn't known yet and is left out of the estimate.
size_t budget_words(const nnapi::Model& model) {
  size_t bytes = kPageBytes;
  for (const nnapi::Model* each : nnapi::with_subgraphs(model)) {
    for (const nnapi::Operand& operand : each->operands) {
      if (operand.constant() != nullptr) bytes += operand.constant()->byte_count();
    }
    bytes += 4 * (8 * each->operands.size() + 12 * each->operations.size());
  }
  return static_cast<size_t>(kShareOfFile * static_cast<double>(bytes)) / 4;
}

bool has_int8_weights(const nnapi::Model& model) {
  const auto models = nnapi::with_subgraphs(model);
  return std::any_of(models.begin(), models.end(), [](const nnapi::Model* each) {
    return std::any_of(each->operands.begin(), each->operands.end(), nnapi::is_stored_as_int8);
  });
}

// True if each is a tuple of tensors, one for each input.
bool fits(const BundledInputs& data, const ModuleInterface& interface) {
  return std::all_of(data.begin(), data.end(), [&](const InputTuple& sample) {
    return sample.size() == interface.inputs.size() &&
           std::all_of(sample.begin(), sample.end(), [](const c10::IValue& value) { return value.isTensor(); });
  });
}

// Adds seeded noise to the floats, so that files are the same each time.
std::vector<at::Tensor> with_noise(std::vector<at::Tensor> tensors, const Noise& noise) {
  at::Generator generator = at::detail::createCPUGenerator(noise.seed);
  for (at::Tensor& tensor : tensors) {
    if (!tensor.is_floating_point() || tensor.numel() == 0) continue;
    const at::Tensor range = tensor.max() - tensor.min();
    const at::Tensor size = tensor.abs() * noise.of_element + range * noise.of_range;
    tensor = tensor + size * at::randn(tensor.sizes(), generator);
  }
  return tensors;
}

std::vector<quantise::Bytes> physical_inputs(const NnapiPart& part, const std::vector<at::Tensor>& callers) {
  std::vector<quantise::Bytes> inputs;
  for (const nnapi::Boundary& boundary : part.model.inputs) {
    const at::Tensor& caller = callers.at(boundary.argument);
    const std::vector<uint8_t> bytes = check_bytes(to_physical(caller, part.model.at(boundary.operand), boundary));
    inputs.emplace_back(bytes.begin(), bytes.end());
  }
  return inputs;
}

RunPhysical run_on_host(const NnapiPart& part) {
  std::vector<Dims> arguments;
  for (const InterfaceInput& input : part.interface.inputs) arguments.push_back(input.type.dims);
  const auto model =
      std::make_shared<quantise::HostModel>(part.model, arguments, nnapi::required_feature_level(part.model));
  return [model, &part](const CheckInputs& inputs, const Noise& noise) {
    if (!noise.is_none() && quantised_operations(part.model) > 0) return std::vector<at::Tensor>();
    quantise::Sample sample;
    for (const at::Tensor& caller : inputs.callers()) sample.shapes.push_back(caller.sizes().vec());
    sample.inputs = noise.is_none() ? inputs.physical() : physical_inputs(part, with_noise(inputs.callers(), noise));
    const std::vector<quantise::Bytes>& results = model->run(sample);
    std::vector<at::Tensor> outputs;
    for (size_t i = 0; i < results.size(); ++i) {
      const nnapi::Operand& operand = part.model.at(part.model.outputs[i].operand);
      const at::ScalarType type = element_type(operand);
      const auto count = static_cast<int64_t>(results[i].size() / c10::elementSize(type));
      // Samples need only the innermost size of the shape.
      const int64_t innermost = operand.dims.empty() ? 1 : operand.dims.back().fixed_value().value_or(1);
      outputs.push_back(at::empty({count / innermost, innermost}, at::TensorOptions(type)));
      std::memcpy(outputs.back().data_ptr(), results[i].data(), results[i].size());
    }
    return outputs;
  };
}

// Runs TorchScript, and gives its results the form that they have in NNAPI.
RunPhysical run_of_torch(const NnapiPart& part, TorchRun run) {
  return [run = std::move(run), &part](const CheckInputs& inputs, const Noise& noise) {
    const std::vector<at::Tensor> results =
        run(noise.is_none() ? inputs.callers() : with_noise(inputs.callers(), noise));
    std::vector<at::Tensor> outputs;
    for (size_t i = 0; i < part.model.outputs.size(); ++i) outputs.push_back(physical_output(part, i, results));
    return outputs;
  };
}

std::vector<BufferSample> samples_of(const CheckSamplesRequest& request, size_t number) {
  const CallSizes call_sizes = call_sizes_of(request.planned.interface, request.frontend.loaded());
  const PlannedSegment& segment = request.planned.plan.segments[number];
  const NnapiPart& part = segment.part;
  const size_t budget = budget_words(part.model);
  const bool is_other = request.is_calibrated || has_int8_weights(part.model);
  if (!request.planned.plan.is_whole()) {
    const RunPhysical run = is_other ? run_on_host(part) : run_of_torch(part, run_of_segment(segment.segment));
    return PartSamples(part, request.options, ranges_of_segment(segment.segment), call_sizes).make(run, {}, budget);
  }
  const RunPhysical run =
      is_other ? run_on_host(part) : run_of_torch(part, run_of_whole(request.frontend.loaded(), part));
  return PartSamples(part, request.options, ranges_of_arguments(request.frontend, part.interface), call_sizes)
      .make(run, fits(request.data, part.interface) ? request.data : BundledInputs(), budget);
}

}  // namespace

std::vector<std::vector<BufferSample>> check_samples(const CheckSamplesRequest& request, Diagnostics& diagnostics) {
  const PlannedModel& planned = request.planned;
  std::vector<std::vector<BufferSample>> samples(planned.plan.segments.size());
  if (request.options.runtime != Runtime::kShim || request.options.check_samples == 0) return samples;
  tell_step("self-check");
  for (size_t i = 0; i < samples.size(); ++i) {
    std::string reason;
    try {
      samples[i] = samples_of(request, i);
      continue;
    } catch (const NoSample& error) {
      reason = error.what();
    } catch (const std::exception& error) {
      reason = "the model can't be run with sample inputs: " + torch_reason(error);
    }
    const std::string what = planned.plan.is_whole() ? "the file has" : fmt::format("segment {} has", i);
    diagnostics.warn(fmt::format("self-check: {} no samples to check a device by: {}", what, reason));
  }
  return samples;
}

}  // namespace nnapi_convert
