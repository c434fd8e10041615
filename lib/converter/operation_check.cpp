#include "lib/converter/operation_check.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <unordered_map>

#include "lib/base/error.h"
#include "lib/converter/convert.h"
#include "lib/converter/operation_variant.h"
#include "lib/converter/recorded_options.h"
#include "lib/converter/reference_values.h"
#include "lib/converter/sample_inputs.h"
#include "lib/converter/verify_inputs.h"
#include "lib/format/operation_table.h"

namespace nnapi_convert {
namespace {

using nnapi_shim::OperandView;
using ReferenceValues = std::unordered_map<std::string, at::Tensor>;

[[noreturn]] void differ(const std::string& found) {
  throw ConvertError(ExitCode::kBadFile,
                     fmt::format("the original, converted as the file says, gives another NNAPI model: {}; give the "
                                 "original that the file was made from, or convert it again",
                                 found));
}

bool same_ids(const std::vector<nnapi::OperandId>& ids, const uint32_t* found, uint32_t count) {
  return ids.size() == count && std::equal(ids.begin(), ids.end(), found, [](nnapi::OperandId id, uint32_t other) {
           return static_cast<uint32_t>(id) == other;
         });
}

// What the conversion tells of operands holds for the file only if both have the same operations.
void check_same(const nnapi::Model& model, const nnapi_shim::SubgraphView& file, size_t segment) {
  if (model.operations.size() != file.operations.size() || model.operands.size() != file.operands.size()) {
    differ(fmt::format("segment {} has {} operations and {} operands in the file, {} and {} now", segment,
                       file.operations.size(), file.operands.size(), model.operations.size(), model.operands.size()));
  }
  for (size_t i = 0; i < model.operations.size(); ++i) {
    const nnapi::Operation& now = model.operations[i];
    const nnapi_shim::OperationView& then = file.operations[i];
    const bool is_same = static_cast<int32_t>(now.code) == then.code &&
                         same_ids(now.inputs, then.inputs, then.input_count) &&
                         same_ids(now.outputs, then.outputs, then.output_count);
    if (is_same) continue;
    differ(fmt::format("segment {}, operation {} is {} in the file, {} now, or reads others", segment, i,
                       name_of(static_cast<OperationCode>(then.code)), name_of(now.code)));
  }
}

// Operations from known operands to a known one.
struct Step {
  std::vector<size_t> operations;
  std::vector<uint32_t> inputs;
  uint32_t output = 0;
};

// One segment: which operands are known, and the steps between them.
class SegmentCheck {
 public:
  SegmentCheck(const nnapi::Model& model, SegmentModel file, size_t number)
      : model_(model), file_(std::move(file)), number_(number), producers_(nnapi::Uses(model).producer) {
    check_same(model, file_.main(), number);
  }

  // `given` has the tensors that the segment's module takes, for operands without a name.
  void compare(const ReferenceValues& reference, const std::vector<at::Tensor>& given) {
    take_known(reference, given);
    if (values_.empty()) make_steps();
    const std::vector<at::Tensor> in_one_go = run_all();
    for (size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      const std::vector<at::Tensor> own = file_.run(step.operations, step.inputs, known_of(step.inputs), {step.output});
      add(values_[i], step.output, own[0], in_one_go[i]);
    }
  }

  const std::vector<CheckedValue>& values() const { return values_; }
  const std::vector<std::string>& unchecked() const { return unchecked_; }

 private:
  const OperandView& operand(uint32_t id) const { return file_.main().operands[id]; }
  const nnapi::Operand& described(uint32_t id) const { return model_.at(static_cast<nnapi::OperandId>(id)); }
  bool is_known(uint32_t id) const { return known_.count(id) != 0; }

  void take_known(const ReferenceValues& reference, const std::vector<at::Tensor>& given) {
    known_.clear();
    for (const nnapi::Boundary& input : model_.inputs) {
      if (input.argument < given.size()) know(static_cast<uint32_t>(input.operand), given[input.argument]);
    }
    for (uint32_t id = 0; id < model_.operands.size(); ++id) {
      const auto found = reference.find(described(id).name);
      if (!described(id).name.empty() && found != reference.end() && !is_known(id)) know(id, found->second);
    }
  }

  void know(uint32_t id, const at::Tensor& tensor) {
    if (!is_comparable(operand(id)) || described(id).is_constant()) return;
    const at::Tensor physical = to_physical(tensor, operand(id), described(id).is_nhwc);
    if (!physical.defined()) return;
    known_[id] = physical;
  }

  std::vector<at::Tensor> known_of(const std::vector<uint32_t>& ids) const {
    std::vector<at::Tensor> tensors;
    for (const uint32_t id : ids) tensors.push_back(known_.at(id));
    return tensors;
  }

  void make_steps() {
    std::set<size_t> covered;
    for (size_t i = 0; i < model_.operations.size(); ++i) {
      for (const nnapi::OperandId id : model_.operations[i].outputs) {
        if (!is_known(static_cast<uint32_t>(id))) continue;
        Step step;
        step.output = static_cast<uint32_t>(id);
        if (!collect(i, step)) continue;
        std::sort(step.operations.begin(), step.operations.end());
        covered.insert(step.operations.begin(), step.operations.end());
        values_.push_back(described_step(step));
        steps_.push_back(std::move(step));
      }
    }
    for (size_t i = 0; i < model_.operations.size(); ++i) {
      if (covered.count(i) == 0) unchecked_.push_back(place(i) + ": it leads to no value that TorchScript has");
    }
  }

  // False where it begins at something that isn't known.
  bool collect(size_t operation, Step& step) const {
    if (std::count(step.operations.begin(), step.operations.end(), operation) != 0) return true;
    step.operations.push_back(operation);
    const std::vector<nnapi::OperandId>& inputs = model_.operations[operation].inputs;
    return std::all_of(inputs.begin(), inputs.end(), [&](nnapi::OperandId input) {
      const auto id = static_cast<uint32_t>(input);
      if (described(id).is_constant()) return true;
      const int producer = producers_[id];
      if (!is_known(id)) return producer >= 0 && collect(static_cast<size_t>(producer), step);
      if (std::count(step.inputs.begin(), step.inputs.end(), id) == 0) step.inputs.push_back(id);
      return true;
    });
  }

  std::string place(size_t number) const {
    const nnapi::Operation& operation = model_.operations[number];
    return fmt::format("segment {}, operation {} ({}){}", number_, number, name_of(operation.code),
                       operation.source.empty() ? "" : " from " + operation.source);
  }

  CheckedValue described_step(const Step& step) const {
    CheckedValue value;
    value.segment = number_;
    value.operation = step.operations.back();
    for (const size_t number : step.operations) {
      value.operations.emplace_back(name_of(model_.operations[number].code));
    }
    value.where = model_.operations[value.operation].source;
    value.value = described(step.output).name;
    const bool is_float = described(step.output).type == OperandCode::TENSOR_FLOAT32;
    const bool is_quantised = nnapi::is_quant8(described(step.output).type);
    value.unit = is_float ? "of range" : is_quantised ? "quanta" : "absolute";
    value.tolerance = is_float       ? OperationCheck::Defaults::kFloatTolerance
                      : is_quantised ? OperationCheck::Defaults::kQuanta
                                     : 0;
    value.lowest = std::numeric_limits<double>::infinity();
    value.highest = -value.lowest;
    return value;
  }

  // The whole segment, on its inputs: the results of all steps.
  std::vector<at::Tensor> run_all() const {
    std::vector<size_t> operations;
    for (size_t i = 0; i < model_.operations.size(); ++i) operations.push_back(i);
    std::vector<uint32_t> inputs, outputs;
    for (const nnapi::Boundary& input : model_.inputs) {
      inputs.push_back(static_cast<uint32_t>(input.operand));
      if (!is_known(inputs.back())) {
        throw ConvertError(ExitCode::kVerificationFailed,
                           fmt::format("segment {}: TorchScript has no value for its input %{}", number_,
                                       described(inputs.back()).name));
      }
    }
    for (const Step& step : steps_) outputs.push_back(step.output);
    return outputs.empty() ? std::vector<at::Tensor>() : file_.run(operations, inputs, known_of(inputs), outputs);
  }

  // Largest difference; where both are NaN there is none, where one is it has no limit.
  double error_of(const at::Tensor& expected, const at::Tensor& found) const {
    if (expected.numel() == 0) return 0;
    const at::Tensor same = expected.eq(found).logical_or(expected.isnan().logical_and(found.isnan()));
    const double error = (expected - found).abs().masked_fill(same, 0).max().item().toDouble();
    return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  }

  void add(CheckedValue& value, uint32_t id, const at::Tensor& own, const at::Tensor& in_one_go) {
    const bool is_nhwc = described(id).is_nhwc;
    const at::Tensor expected = to_real(known_.at(id), operand(id), is_nhwc);
    if (expected.numel() > 0) {
      value.lowest = std::min(value.lowest, expected.min().item().toDouble());
      value.highest = std::max(value.highest, expected.max().item().toDouble());
    }
    double unit = 1;
    if (value.unit == "quanta") unit = operand(id).scale;
    if (value.unit == "of range") {
      const double range = value.highest - value.lowest;
      unit = range > 0 && std::isfinite(range) ? range : std::max(std::abs(value.highest), 1.0);
    }
    value.own_error = std::max(value.own_error, error_of(expected, to_real(own, operand(id), is_nhwc)) / unit);
    value.error = std::max(value.error, error_of(expected, to_real(in_one_go, operand(id), is_nhwc)) / unit);
  }

  const nnapi::Model& model_;
  SegmentModel file_;
  size_t number_;
  std::vector<int> producers_;
  std::unordered_map<uint32_t, at::Tensor> known_;
  std::vector<Step> steps_;
  std::vector<CheckedValue> values_;
  std::vector<std::string> unchecked_;
};

// The file's modules with the models that the original gives now.
struct Part {
  torch::jit::Module module;
  const nnapi::Model* model;
  const std::vector<std::string>* names;  // of what a segment's module takes; null: forward's arguments
};

std::vector<Part> parts_of(const ConvertedFile& file, const Conversion& conversion) {
  if (file.is_partitioned() != conversion.is_partitioned() ||
      (file.is_partitioned() && file.buffers.size() != conversion.segments.size())) {
    differ(fmt::format("{} segments in the file, {} now", file.buffers.size(),
                       std::max<size_t>(conversion.segments.size(), 1)));
  }
  if (!file.is_partitioned()) return {{file.module, &conversion.model, nullptr}};
  std::vector<Part> parts;
  for (size_t i = 0; i < conversion.segments.size(); ++i) {
    const SegmentSummary& segment = conversion.segments[i];
    parts.push_back({file.module.attr(fmt::format("segment_{}", i)).toModule(), &segment.model, &segment.input_names});
  }
  return parts;
}

std::vector<at::Tensor> inputs_of(const Part& part, const Tensors& sample, const ReferenceValues& reference) {
  if (part.names == nullptr) return sample;
  std::vector<at::Tensor> inputs;
  for (const std::string& name : *part.names) inputs.push_back(reference.at(name));
  return inputs;
}

ReferenceValues run_original(const NormalisedModel& model, const Tensors& inputs) {
  try {
    return reference_values(model, inputs);
  } catch (const std::exception& error) {
    throw ConvertError(ExitCode::kVerificationFailed, fmt::format("the original doesn't run: {}", error.what()));
  }
}

bool is_flexible(const ConvertedFile& file) {
  const std::vector<MetadataInput>& inputs = file.metadata.inputs;
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const MetadataInput& input) { return !all_fixed(input.type.dims); });
}

void run_converted(ConvertedFile& file, const Tensors& sample) {
  try {
    const c10::InferenceMode guard;
    file.module.forward(std::vector<c10::IValue>(sample.begin(), sample.end()));
  } catch (const std::exception& error) {
    throw ConvertError(ExitCode::kVerificationFailed, fmt::format("the converted model doesn't run: {}", error.what()));
  }
}

// Samples of a forward that takes tensors only, also in lists and the like.
std::vector<Tensors> tensor_samples(const VerifyRequest& request, const ConvertedFile& file, int count) {
  std::vector<Tensors> samples;
  for (const Values& sample : make_samples(request, file.metadata, arguments_of(file), count)) {
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

Tensors as_original(const Tensors& sample, const Metadata& metadata) {
  Tensors result;
  for (size_t i = 0; i < sample.size(); ++i) result.push_back(to_interface(sample[i], metadata.inputs.at(i).original));
  return result;
}

}  // namespace

OperationCheck check_operations(const VerifyRequest& request) {
  load_host_library();
  Diagnostics ignored;
  const LoadedModel original = load_model(request.original, ignored);
  ConvertedFile file = read_converted_file(request.converted);
  const std::vector<Tensors> samples =
      tensor_samples(request, file, request.samples.value_or(VerifyDefaults::kSamples));
  const ConvertOptions options = recorded_options(file);
  const Conversion conversion = convert(original, options, ignored);
  const NormalisedModel reference = conversion.is_partitioned()
                                        ? normalise_for_parts(original, names_of(options.inputs), ignored)
                                        : normalise(original, ignored);
  if (is_flexible(file)) run_converted(file, samples.at(0));  // writes its sizes
  std::vector<SegmentCheck> checks;
  for (const Tensors& sample : samples) {
    const ReferenceValues values = run_original(reference, as_original(sample, file.metadata));
    const std::vector<Part> parts = parts_of(file, conversion);
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::vector<at::Tensor> inputs = inputs_of(parts[i], sample, values);
      if (checks.size() == i) {
        checks.emplace_back(*parts[i].model, SegmentModel(parts[i].module, file.runtime, inputs), i);
      }
      checks[i].compare(values, inputs);
    }
  }
  OperationCheck result;
  result.samples = static_cast<int>(samples.size());
  for (const SegmentCheck& check : checks) {
    result.values.insert(result.values.end(), check.values().begin(), check.values().end());
    result.unchecked.insert(result.unchecked.end(), check.unchecked().begin(), check.unchecked().end());
  }
  if (request.tolerance) {
    for (CheckedValue& value : result.values) {
      if (value.unit == "of range") value.tolerance = *request.tolerance;
    }
  }
  return result;
}

}  // namespace nnapi_convert
