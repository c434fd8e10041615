// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/verify/operation_check.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "lib/base/counted.h"
#include "lib/base/error.h"
#include "lib/base/host_library.h"
#include "lib/converter/convert.h"
#include "lib/converter/emit/recorded_options.h"
#include "lib/converter/frontend/arguments.h"
#include "lib/converter/frontend/bound_arguments.h"
#include "lib/converter/frontend/normalise.h"
#include "lib/converter/frontend/sample_inputs.h"
#include "lib/converter/frontend/split_results.h"
#include "lib/converter/graph/torch_error.h"
#include "lib/converter/load/custom_operators.h"
#include "lib/converter/plan/split.h"
#include "lib/converter/samples/reference_values.h"
#include "lib/converter/samples/row_chunks.h"
#include "lib/converter/verify/operation_variant.h"
#include "lib/converter/verify/segment_check.h"
#include "lib/converter/verify/verify_inputs.h"
#include "lib/quantise/recorded_calibration.h"

namespace nnapi_convert {
namespace {

// A module of the file, with the NNAPI model that converting the original makes for it now.
struct Part {
  torch::jit::Module module;
  const nnapi::Model* model;
  const SegmentSummary* segment;  // null: the model is whole
};

std::vector<Part> parts_of(const ConvertedFile& file, const Conversion& conversion) {
  if (file.is_partitioned == conversion.is_whole || file.buffers.size() != conversion.segments.size()) {
    refuse_another_model(
        fmt::format("{} in the file, {} now", counted(file.buffers.size(), "segment"), conversion.segments.size()));
  }
  if (conversion.is_whole) return {{file.module, &conversion.segments[0].model, nullptr}};
  std::vector<Part> parts;
  for (size_t i = 0; i < conversion.segments.size(); ++i) {
    const SegmentSummary& segment = conversion.segments[i];
    parts.push_back({file.module.attr(fmt::format("segment_{}", i)).toModule(), &segment.model, &segment});
  }
  return parts;
}

std::vector<std::string> names_of_operands(const nnapi::Model& model) {
  std::vector<std::string> names;
  for (const nnapi::Operand& operand : model.operands) {
    if (!operand.name.empty() && !operand.is_constant()) names.push_back(operand.name);
  }
  return names;
}

ReferenceRequest request_of(const Part& part, const NormalisedModel& reference) {
  ReferenceRequest request;
  request.wanted = names_of_operands(*part.model);
  if (part.segment != nullptr) {
    request.made = part.segment->value_names;
    request.read = part.segment->input_names;
    return request;
  }
  request.made = request.wanted;
  for (const torch::jit::Value* input : reference.inputs) request.wanted.push_back(input->debugName());
  return request;
}

Reference reference_of(const LoadedModel& original, const Conversion& conversion, const ConvertOptions& options,
                       const std::vector<Part>& parts) {
  Diagnostics ignored;
  NormalisedModel model =
      conversion.is_whole ? normalise(original, {}, ignored) : Frontend(original, options).reference(conversion.kept);
  std::vector<ReferenceRequest> requests;
  for (const Part& part : parts) requests.push_back(request_of(part, model));
  return {std::move(model), requests};
}

std::vector<std::vector<ReferenceValues>> run_original(const Reference& reference, const Tensors& inputs) {
  try {
    return reference.run(inputs);
  } catch (const std::exception& error) {
    const std::string missing = missing_operator(error.what());
    throw ConvertError(ExitCode::kVerificationFailed,
                       fmt::format("the original doesn't run: {}", missing.empty() ? torch_reason(error) : missing));
  }
}

// Checks a part. Its SegmentCheck is made when the part runs for the first time.
class PartCheck {
 public:
  PartCheck(Part part, size_t number, Runtime runtime) : part_(std::move(part)), number_(number), runtime_(runtime) {}

  void compare_sample(const Tensors& sample, const std::vector<ReferenceValues>& runs) {
    size_t compared = 0;
    for (const ReferenceValues& values : runs) {
      const auto calls = calls_of(sample, values);
      if (!calls) ++without_inputs_;
      for (const CallValues& call : calls.value_or(std::vector<CallValues>())) {
        if (compared++ < OperationCheckDefaults::kMostRuns) {
          compare(call);
        } else {
          ++beyond_;
        }
      }
    }
  }

  void add_to(OperationCheck& result) const {
    const std::string place =
        part_.segment == nullptr || part_.segment->places.empty() ? "" : ", " + to_text(part_.segment->places);
    const auto skip = [&](const std::string& what) {
      result.unchecked.push_back(fmt::format("segment {}{}: {}", number_, place, what));
    };
    if (without_inputs_ > 0) skip(fmt::format("{} runs: TorchScript has no values for what it reads", without_inputs_));
    if (beyond_ > 0) {
      skip(fmt::format("{} runs, those after the first {} in a sample", beyond_, OperationCheckDefaults::kMostRuns));
    }
    if (!check_) return without_inputs_ > 0 ? void() : skip("it doesn't run in these samples");
    for (CheckedValue value : check_->values()) {
      if (part_.segment != nullptr) value.inside = part_.segment->places;
      result.values.push_back(std::move(value));
    }
    const std::vector<std::string> unchecked = check_->unchecked();
    result.unchecked.insert(result.unchecked.end(), unchecked.begin(), unchecked.end());
  }

 private:
  std::optional<std::vector<CallValues>> calls_of(const Tensors& sample, const ReferenceValues& values) const {
    if (part_.segment == nullptr) return std::vector<CallValues>{{values, sample}};
    std::vector<at::Tensor> inputs;
    for (const std::string& name : part_.segment->input_names) {
      const auto found = values.find(name);
      if (found == values.end()) return std::nullopt;
      inputs.push_back(found->second);
    }
    if (!part_.segment->rows) return std::vector<CallValues>{{values, inputs}};
    return in_calls(*part_.model, inputs, values, part_.segment->rows->per_call);
  }

  void compare(const CallValues& call) {
    if (!check_) check_.emplace(*part_.model, SegmentModel(part_.module, runtime_, call.given), number_);
    check_->compare(call.values, call.given);
  }

  Part part_;
  size_t number_;
  Runtime runtime_;
  std::optional<SegmentCheck> check_;
  size_t without_inputs_ = 0, beyond_ = 0;  // runs that aren't compared
};

bool is_flexible(const ConvertedFile& file) {
  const std::vector<MetadataInput>& inputs = file.metadata.inputs;
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const MetadataInput& input) { return !all_fixed(input.type.dims); });
}

void run_converted(ConvertedFile& file, const Tensors& sample) {
  try {
    const c10::InferenceMode guard;
    file.module.forward(call_of(arguments_of(file), sample));
  } catch (const std::exception& error) {
    throw ConvertError(ExitCode::kVerificationFailed,
                       fmt::format("the converted model doesn't run: {}", torch_reason(error)));
  }
}

// Makes samples for a forward that takes tensors only, also in lists and the like.
std::vector<Tensors> tensor_samples(const VerifyRequest& request, const LoadedModel& original,
                                    const ConvertedFile& file, int count) {
  std::vector<Tensors> samples;
  const ForwardArguments arguments = arguments_of(file);
  MadeUp how;
  how.has_masks = false;  // infinite scores have no distance
  for (const Values& sample : SampleMaker(request, original, file, arguments).samples(count, how)) {
    Tensors& tensors = samples.emplace_back();
    for (const c10::IValue& value : sample) {
      if (!value.isTensor()) {
        throw ConvertError(ExitCode::kUsage,
                           "--per-op: forward takes arguments that are no tensors; verify it without --per-op");
      }
      tensors.push_back(value.toTensor());
    }
  }
  return samples;
}

// Returns the sample as the reference takes it: that of a partitioned model takes what the converted model does.
Tensors for_reference(const Tensors& sample, const ConvertedFile& file) {
  if (file.is_partitioned) return sample;
  Tensors result;
  for (size_t i = 0; i < sample.size(); ++i) {
    result.push_back(to_interface(sample[i], file.metadata.inputs.at(i).original));
  }
  return result;
}

}  // namespace

OperationCheck check_operations(const VerifyRequest& request) {
  load_host_library();
  Diagnostics ignored;
  LoadedModel original = load_method(request.original, request.method);
  ConvertedFile file = read_converted_file(request.converted, request.method);
  if (!file.has_module) {
    throw ConvertError(ExitCode::kUsage, fmt::format("--per-op: {} has no TorchScript (--no-torchscript), whose values "
                                                     "are compared; convert it without that",
                                                     request.converted));
  }
  if (!file.variants.empty()) {
    throw ConvertError(ExitCode::kUsage, fmt::format("--per-op: {} is a package of several models; verify it without "
                                                     "--per-op, which compares each of them",
                                                     request.converted));
  }
  if (recorded_calibration(file)) {
    throw ConvertError(
        ExitCode::kUsage,
        fmt::format("--per-op: {} was quantised by data, and the original alone doesn't tell its scales; "
                    "verify it without --per-op",
                    request.converted));
  }
  const std::vector<Tensors> samples =
      tensor_samples(request, original, file, request.samples.value_or(VerifyDefaults::kSamples));
  ConvertOptions options = bind_arguments(original, recorded_options(file));
  options.may_need_pytorch = true;  // the file may need PyTorch, too
  split_results(original, recorded_splits(file));
  const Conversion conversion = convert(original, options, ignored);
  if (is_flexible(file)) run_converted(file, samples.at(0));  // writes its sizes
  const std::vector<Part> parts = parts_of(file, conversion);
  const Reference reference = reference_of(original, conversion, options, parts);
  std::vector<PartCheck> checks;
  for (size_t i = 0; i < parts.size(); ++i) checks.emplace_back(parts[i], i, file.runtime);
  for (const Tensors& sample : samples) {
    const auto runs = run_original(reference, for_reference(sample, file));
    for (size_t i = 0; i < checks.size(); ++i) checks[i].compare_sample(sample, runs[i]);
  }
  OperationCheck result;
  result.samples = static_cast<int>(samples.size());
  for (const PartCheck& check : checks) check.add_to(result);
  std::optional<double> tolerance = request.tolerance;
  if (!tolerance && is_approximate(file)) tolerance = VerifyDefaults::kApproximateTolerance;
  if (tolerance) {
    for (CheckedValue& value : result.values) {
      if (value.unit == "of range") value.tolerance = *tolerance;
    }
  }
  return result;
}

}  // namespace nnapi_convert
