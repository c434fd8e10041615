#include "lib/converter/emit/check_samples.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <torch/csrc/jit/runtime/interpreter.h>
#include <torch/csrc/jit/runtime/print_handler.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>

#include "lib/converter/emit/check_tolerance.h"
#include "lib/converter/emit/emit_cpu.h"
#include "lib/converter/graph/torch_error.h"
#include "lib/converter/infer/index_range.h"
#include "lib/format/buffer_samples.h"
#include "lib/nnapi/validate.h"
#include "lib/ops/value_range.h"
#include "lib/quantise/host_model.h"
#include "lib/serialize/buffer_words.h"

namespace nnapi_convert {
namespace {

constexpr uint32_t kFirstSeed = 20117;
constexpr double kShareOfFile = 0.01;
constexpr size_t kPageBytes = 16384;                   // the weights' place in the file begins at a multiple
constexpr size_t kFewestElements = 16;                 // of an output that are kept, if it has so many
constexpr float kLowest = -1.732F, kHighest = 1.732F;  // of numbers whose variance is 1
constexpr int64_t kFlexibleSize = 96;                  // as verify takes for axes behind the first

using Run = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;
using Ranges = std::vector<std::optional<IndexRange>>;

// A reason why a segment has no samples.
class NoSample : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

at::ScalarType element_type(const nnapi::Operand& operand) {
  switch (operand.type) {
    case OperandCode::TENSOR_FLOAT32:
      return at::kFloat;
    case OperandCode::TENSOR_INT32:
      return at::kInt;
    case OperandCode::TENSOR_QUANT8_ASYMM:
    case OperandCode::TENSOR_BOOL8:
      return at::kByte;
    case OperandCode::TENSOR_QUANT8_ASYMM_SIGNED:
      return at::kChar;
    default:
      throw NoSample("the NNAPI model has an input or output of another type than float32, int32, bool and 8 bits");
  }
}

std::vector<uint8_t> bytes_of(const at::Tensor& tensor) {
  const at::Tensor contiguous = tensor.contiguous();
  std::vector<uint8_t> bytes(contiguous.nbytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), contiguous.data_ptr(), bytes.size());
  return bytes;
}

// The caller's tensor as NNAPI's operand holds it: type, rank and order of axes.
at::Tensor to_physical(at::Tensor tensor, const nnapi::Operand& operand, const nnapi::Boundary& boundary) {
  if (nnapi::is_quant8(operand.type)) {
    if (!tensor.is_quantized() && tensor.is_floating_point()) {
      const at::ScalarType type = operand.type == OperandCode::TENSOR_QUANT8_ASYMM_SIGNED ? at::kQInt8 : at::kQUInt8;
      tensor = at::quantize_per_tensor(tensor, operand.scale, operand.zero_point, type);
    }
    if (tensor.is_quantized()) tensor = tensor.int_repr();
  } else if (tensor.is_quantized()) {
    tensor = tensor.dequantize();
  }
  tensor = tensor.to(element_type(operand));
  if (boundary.nhwc) tensor = tensor.permute({0, 2, 3, 1});
  return tensor.contiguous();
}

// Makes the sample inputs of one part, as the buffer and as forward's caller have them.
class InputMaker {
 public:
  InputMaker(const NnapiPart& part, const Ranges& ranges, bool is_positive)
      : part_(part), ranges_(ranges), is_positive_(is_positive) {}

  // `real` is a sample that the user gave, or null. It is stored if it takes at most `most_bytes`.
  void make(uint32_t number, const InputTuple* real, size_t most_bytes) {
    sizes_.clear();
    callers_.clear();
    const std::vector<InterfaceInput>& inputs = part_.interface.inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      callers_.push_back(at::zeros(sizes_of(inputs[i].type, real, i), at::TensorOptions(at::kFloat)));
      const auto sizes = callers_.back().sizes();
      sizes_.insert(sizes_.end(), sizes.begin(), sizes.end());
      callers_.back() = as_caller(callers_.back(), inputs[i]);
    }
    made_.clear();
    physical_.clear();
    uint32_t seed = kFirstSeed + 100 * number;
    for (const nnapi::Boundary& boundary : part_.model.inputs) {
      const at::Tensor* given = real != nullptr ? &(*real)[boundary.argument].toTensor() : nullptr;
      make_one(boundary, seed++, given, most_bytes);
    }
  }

  const std::vector<at::Tensor>& callers() const { return callers_; }
  BufferSample sample() const { return {sizes_, made_, {}}; }
  // The bytes of NNAPI's inputs.
  const std::vector<quantise::Bytes>& physical() const { return physical_; }

 private:
  static std::vector<int64_t> sizes_of(const TensorType& type, const InputTuple* real, size_t number) {
    if (real != nullptr) return (*real)[number].toTensor().sizes().vec();
    std::vector<int64_t> sizes;
    for (const Dim& dim : type.dims) {
      sizes.push_back(dim.fixed_value().value_or(sizes.empty() ? 1 : kFlexibleSize));
    }
    return sizes;
  }

  static at::Tensor as_caller(const at::Tensor& values, const InterfaceInput& input) {
    if (!input.type.is_quantized()) return values.to(input.type.dtype);
    return at::quantize_per_tensor(values.to(at::kFloat), input.type.quantization.scale,
                                   input.type.quantization.zero_point, input.type.dtype);
  }

  void make_one(const nnapi::Boundary& boundary, uint32_t seed, const at::Tensor* given, size_t most_bytes) {
    const nnapi::Operand& operand = part_.model.at(boundary.operand);
    const InterfaceInput& input = part_.interface.inputs[boundary.argument];
    at::Tensor& caller = callers_[boundary.argument];
    BufferSampleInput made;
    if (given != nullptr) {
      const at::Tensor physical = to_physical(*given, operand, boundary);
      if (physical.nbytes() > 0 && physical.nbytes() <= most_bytes) {
        made.stored = bytes_of(physical);
        caller = *given;
        made_.push_back(made);
        physical_.push_back(made.stored);
        return;
      }
    }
    made.seed = seed;
    const at::Tensor physical = uniform(operand, boundary, caller.sizes().vec(), given, made);
    made_.push_back(made);
    physical_.push_back(bytes_of(physical));
    at::Tensor logical = boundary.nhwc ? physical.permute({0, 3, 1, 2}) : physical;
    logical = logical.reshape(caller.sizes());
    if (nnapi::is_quant8(operand.type) && (input.type.is_quantized() || input.quantize)) {
      const at::Tensor real =
          (logical.to(at::kFloat) - static_cast<double>(operand.zero_point)) * static_cast<double>(operand.scale);
      caller = input.quantize ? real : as_caller(real, input);
    } else {
      caller = logical.to(input.type.dtype);
    }
    caller = caller.contiguous();
  }

  // Makes NNAPI's tensor, as the shim will from the same three words.
  at::Tensor uniform(const nnapi::Operand& operand, const nnapi::Boundary& boundary, std::vector<int64_t> sizes,
                     const at::Tensor* given, BufferSampleInput& made) const {
    if (boundary.nhwc) sizes = {sizes[0], sizes[2], sizes[3], sizes[1]};
    const at::ScalarType type = element_type(operand);
    const auto count = static_cast<size_t>(c10::multiply_integers(sizes));
    if (count * c10::elementSize(type) > buffer_samples::kMostInputBytes) throw NoSample("an input is too large");
    const auto [lowest, highest] = limits(operand, boundary, given);
    if (type == at::kFloat) {
      made.lowest = float_bits(static_cast<float>(lowest));
      made.highest = float_bits(static_cast<float>(highest));
      const at::Tensor tensor = at::empty(sizes, at::TensorOptions(type));
      auto* elements = tensor.data_ptr<float>();
      for (size_t i = 0; i < count; ++i) {
        elements[i] =
            buffer_samples::uniform_float(made.seed, i, static_cast<float>(lowest), static_cast<float>(highest));
      }
      return tensor;
    }
    made.lowest = static_cast<int32_t>(lowest);
    made.highest = std::max(made.lowest, static_cast<int32_t>(highest));
    const at::Tensor tensor = at::empty(sizes, at::TensorOptions(at::kInt));
    auto* elements = tensor.data_ptr<int32_t>();
    for (size_t i = 0; i < count; ++i) {
      elements[i] = buffer_samples::uniform_integer(made.seed, i, made.lowest, made.highest);
    }
    return tensor.to(type);
  }

  // Within what data have; else of variance 1; for indices, what may be.
  std::pair<double, double> limits(const nnapi::Operand& operand, const nnapi::Boundary& boundary,
                                   const at::Tensor* given) const {
    const auto& range = ranges_[boundary.argument];
    const at::ScalarType type = element_type(operand);
    const bool is_quantised = nnapi::is_quant8(operand.type) && operand.scale > 0 &&
                              part_.interface.inputs[boundary.argument].type.dtype != at::kByte;
    if (operand.type == OperandCode::TENSOR_BOOL8) return {0, 1};
    if (type == at::kInt || (!is_quantised && type != at::kFloat)) {
      if (range) return {range->lowest, std::min<int64_t>(range->highest, range->lowest + (1 << 20))};
      return {0, type == at::kInt ? 9 : 255};
    }
    double lowest = is_positive_ ? 0.1 : kLowest, highest = kHighest;
    if (range) {
      lowest = static_cast<double>(range->lowest);
      highest = static_cast<double>(std::min<int64_t>(range->highest, range->lowest + (1 << 20)));
    } else if (given != nullptr && given->numel() > 1) {
      const at::Tensor real = (given->is_quantized() ? given->dequantize() : *given).to(at::kFloat);
      const double mean = real.mean().item().toDouble(), width = real.std().item().toDouble() * kHighest;
      lowest = std::max(real.min().item().toDouble(), mean - width);
      highest = std::min(real.max().item().toDouble(), mean + width);
    }
    if (!is_quantised) return {lowest, highest};
    const auto step = [&](double real) {
      const double least = type == at::kChar ? -128 : 0;
      const double number = std::round(real / static_cast<double>(operand.scale)) + operand.zero_point;
      return std::min(std::max(number, least), least + 255);
    };
    return {step(lowest), step(highest)};
  }

  const NnapiPart& part_;
  const Ranges& ranges_;
  bool is_positive_;
  std::vector<int64_t> sizes_;
  std::vector<at::Tensor> callers_;
  std::vector<BufferSampleInput> made_;
  std::vector<quantise::Bytes> physical_;
};

// The elements' numbers are no multiples of the channels' number: each channel gets its share.
uint32_t step_of(int64_t elements, int64_t innermost, size_t most) {
  int64_t step = (elements + static_cast<int64_t>(most) - 1) / static_cast<int64_t>(most);
  while (step > 1 && std::gcd(step, innermost) != 1) ++step;
  return static_cast<uint32_t>(std::max<int64_t>(step, 1));
}

BufferSampleOutput sample_output(const NnapiPart& part, size_t number, const at::Tensor& physical, bool relaxed,
                                 size_t most_elements) {
  BufferSampleOutput output;
  if (physical.numel() == 0) throw NoSample("an output has no elements");
  const at::Tensor real = physical.to(at::kDouble);
  if (!real.isfinite().all().item().toBool()) throw NoSample("an output is not finite");
  const double lowest = real.min().item().toDouble(), highest = real.max().item().toDouble();
  const CheckTolerance tolerance = check_tolerance(part, number, relaxed, lowest, highest);
  output.lowest = static_cast<float>(lowest);
  output.highest = static_cast<float>(highest);
  output.most_difference = static_cast<float>(tolerance.most);
  output.root_mean_square = static_cast<float>(tolerance.root_mean_square);
  output.step = step_of(physical.numel(), physical.size(-1), most_elements);
  output.kept = bytes_of(physical.reshape({-1}).slice(0, 0, c10::nullopt, output.step));
  return output;
}

// NNAPI's output of this number, of the caller's results.
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

// Runs the model on inputs; returns NNAPI's outputs.
using RunPhysical = std::function<std::vector<at::Tensor>(const InputMaker&)>;

class PartSamples {
 public:
  PartSamples(const NnapiPart& part, const ConvertOptions& options, Ranges ranges)
      : part_(part), options_(options), ranges_(std::move(ranges)) {}

  // Throws NoSample.
  std::vector<BufferSample> make(const RunPhysical& run, const BundledInputs& data, size_t budget_words) {
    if (has_random_numbers()) throw NoSample("the model takes random numbers");
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
  bool has_random_numbers() const {
    const auto models = nnapi::with_subgraphs(part_.model);
    return std::any_of(models.begin(), models.end(), [](const nnapi::Model* model) {
      return std::any_of(model->operations.begin(), model->operations.end(), [](const nnapi::Operation& operation) {
        return operation.code == OperationCode::RANDOM_MULTINOMIAL;
      });
    });
  }

  size_t head_words() const {
    size_t words = 2;  // the number of samples, and the sample's own
    for (const InterfaceInput& input : part_.interface.inputs) words += input.type.rank();
    words += part_.model.inputs.size() * (1 + buffer_samples::kUniformWords);
    return words + part_.model.outputs.size() * buffer_samples::kOutputWords;
  }
  size_t fewest_words() const { return head_words() + part_.model.outputs.size() * kFewestElements; }

  BufferSample make_finite(const RunPhysical& run, uint32_t number, const InputTuple* real, size_t budget) const {
    try {
      return make_one(run, number, real, budget, false);
    } catch (const NoSample&) {
      if (real != nullptr) throw;
      return make_one(run, number, real, budget, true);  // a logarithm or a root may want positive numbers
    }
  }

  BufferSample make_one(const RunPhysical& run, uint32_t number, const InputTuple* real, size_t budget,
                        bool is_positive) const {
    InputMaker inputs(part_, ranges_, is_positive);
    const size_t spare = budget - fewest_words();
    inputs.make(number, real, 4 * (spare / 2 / std::max<size_t>(part_.model.inputs.size(), 1)));
    BufferSample sample = inputs.sample();
    const std::vector<at::Tensor> outputs = run(inputs);
    const size_t outside = word_count(sample) + part_.model.outputs.size() * buffer_samples::kOutputWords;
    const size_t each = (budget - std::min(budget, outside)) / part_.model.outputs.size();
    for (size_t i = 0; i < part_.model.outputs.size(); ++i) {
      const size_t elements = std::max(kFewestElements, each * 4 / outputs[i].element_size());
      sample.outputs.push_back(sample_output(part_, i, outputs[i], options_.relax_fp16, elements));
    }
    return sample;
  }

  const NnapiPart& part_;
  const ConvertOptions& options_;
  Ranges ranges_;
};

void collect_tensors(const c10::IValue& value, std::vector<at::Tensor>& tensors) {
  if (value.isTensor()) {
    tensors.push_back(value.toTensor());
  } else if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) collect_tensors(element, tensors);
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) collect_tensors(element, tensors);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) collect_tensors(entry.value(), tensors);
  }
}

// While it lives, running a model prints nothing.
class Silence {
 public:
  Silence() : before_(torch::jit::getPrintHandler()) {
    torch::jit::setPrintHandler([](const std::string&) {});
  }
  ~Silence() { torch::jit::setPrintHandler(before_); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  torch::jit::PrintHandler before_;
};

Run run_of_whole(const LoadedModel& loaded, const ModuleInterface& interface) {
  return [module = cpu_counterpart(loaded, interface, {})](const std::vector<at::Tensor>& inputs) mutable {
    const c10::InferenceMode guard;
    const Silence silence;
    std::vector<at::Tensor> outputs;
    collect_tensors(module.forward(std::vector<c10::IValue>(inputs.begin(), inputs.end())), outputs);
    return outputs;
  };
}

Run run_of_segment(const Segment& segment) {
  return [code = torch::jit::Code(segment.model.graph, "segment")](const std::vector<at::Tensor>& inputs) {
    const c10::InferenceMode guard;
    torch::jit::Stack stack(inputs.begin(), inputs.end());
    torch::jit::InterpreterState(code).run(stack);
    std::vector<at::Tensor> outputs;
    for (const c10::IValue& value : stack) collect_tensors(value, outputs);
    return outputs;
  };
}

Ranges ranges_of_segment(const Segment& segment) {
  Ranges ranges;
  for (const torch::jit::Value* input : segment.model.inputs) {
    const auto range = integer_range(*input, {});
    ranges.emplace_back();
    if (!range || !range->is_int32()) continue;
    ranges.back().emplace();
    ranges.back()->lowest = static_cast<int64_t>(range->least);
    ranges.back()->highest = static_cast<int64_t>(range->greatest);
  }
  return ranges;
}

Ranges ranges_of_whole(const LoadedModel& loaded, const ModuleInterface& interface) {
  std::vector<std::string> names;
  std::vector<TensorType> types;
  for (const InterfaceInput& input : interface.inputs) {
    names.push_back(input.name);
    types.push_back(input.original);
    types.back().dims = input.type.dims;
  }
  return index_ranges(loaded, names, types);
}

// The samples' share of the file: nothing is known of its texts, so that they count as none.
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

// True if each is a tuple of tensors, one for each input.
bool fits(const BundledInputs& data, const ModuleInterface& interface) {
  return std::all_of(data.begin(), data.end(), [&](const InputTuple& sample) {
    return sample.size() == interface.inputs.size() &&
           std::all_of(sample.begin(), sample.end(), [](const c10::IValue& value) { return value.isTensor(); });
  });
}

// Runs the quantised model on the host's NNAPI.
RunPhysical run_of_quantised(const NnapiPart& part) {
  std::vector<Dims> arguments;
  for (const InterfaceInput& input : part.interface.inputs) arguments.push_back(input.type.dims);
  const auto model =
      std::make_shared<quantise::HostModel>(part.model, arguments, nnapi::required_feature_level(part.model));
  return [model, &part](const InputMaker& inputs) {
    quantise::Sample sample;
    for (const at::Tensor& caller : inputs.callers()) sample.shapes.push_back(caller.sizes().vec());
    sample.inputs = inputs.physical();
    const std::vector<quantise::Bytes>& results = model->run(sample);
    std::vector<at::Tensor> outputs;
    for (size_t i = 0; i < results.size(); ++i) {
      const nnapi::Operand& operand = part.model.at(part.model.outputs[i].operand);
      const at::ScalarType type = element_type(operand);
      const auto count = static_cast<int64_t>(results[i].size() / c10::elementSize(type));
      // The innermost size is all that the samples need to know of the shape.
      const int64_t innermost = operand.dims.empty() ? 1 : operand.dims.back().fixed_value().value_or(1);
      outputs.push_back(at::empty({count / innermost, innermost}, at::TensorOptions(type)));
      std::memcpy(outputs.back().data_ptr(), results[i].data(), results[i].size());
    }
    return outputs;
  };
}

// Runs TorchScript, and gives its results the form that they have in NNAPI.
RunPhysical run_of_torch(const NnapiPart& part, Run run) {
  return [run = std::move(run), &part](const InputMaker& inputs) {
    const std::vector<at::Tensor> results = run(inputs.callers());
    std::vector<at::Tensor> outputs;
    for (size_t i = 0; i < part.model.outputs.size(); ++i) outputs.push_back(physical_output(part, i, results));
    return outputs;
  };
}

std::vector<BufferSample> samples_of(const CheckSamplesRequest& request, size_t number) {
  const PlannedSegment& segment = request.planned.plan.segments[number];
  const NnapiPart& part = segment.part;
  const size_t budget = budget_words(part.model);
  if (!request.planned.plan.is_whole()) {
    const RunPhysical run =
        request.is_calibrated ? run_of_quantised(part) : run_of_torch(part, run_of_segment(segment.segment));
    return PartSamples(part, request.options, ranges_of_segment(segment.segment)).make(run, {}, budget);
  }
  const RunPhysical run =
      request.is_calibrated ? run_of_quantised(part) : run_of_torch(part, run_of_whole(request.loaded, part.interface));
  return PartSamples(part, request.options, ranges_of_whole(request.loaded, part.interface))
      .make(run, fits(request.data, part.interface) ? request.data : BundledInputs(), budget);
}

}  // namespace

std::vector<std::vector<BufferSample>> check_samples(const CheckSamplesRequest& request, Diagnostics& diagnostics) {
  const PlannedModel& planned = request.planned;
  std::vector<std::vector<BufferSample>> samples(planned.plan.segments.size());
  if (request.options.runtime != Runtime::kShim || request.options.check_samples == 0) return samples;
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
