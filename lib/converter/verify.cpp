#include "lib/converter/verify.h"

#include <ATen/ATen.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "lib/base/error.h"
#include "lib/converter/argument_samples.h"
#include "lib/converter/arguments.h"
#include "lib/converter/converted_file.h"
#include "lib/converter/custom_operators.h"
#include "lib/converter/load.h"
#include "lib/converter/packed_weights.h"
#include "lib/converter/sample_inputs.h"
#include "lib/serialize/argument_source.h"

namespace nnapi_convert {
namespace {

using Tensors = std::vector<at::Tensor>;
using Values = std::vector<c10::IValue>;  // the leaves of forward's arguments

constexpr int64_t kFlexibleSize = 96;

[[noreturn]] void fail(const std::string& message) {
  throw ConvertError(ExitCode::kVerificationFailed, message);
}

// Loaded for the rest of the process: PyTorch's loader asks for the library by name and is given this one.
void load_host_library() {
  const std::string path = host_library_path();
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("can't load the host's NNAPI {}: {}", path, dlerror()));
  }
}

// The tensors of a result, in the order of a walk through tuples and lists.
void flatten(const c10::IValue& value, Tensors& tensors) {
  if (value.isTensor()) {
    tensors.push_back(value.toTensor());
  } else if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) flatten(element, tensors);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) flatten(entry.value(), tensors);
  } else if (value.isTensorList() || value.isList()) {
    for (const c10::IValue& element : value.toListRef()) flatten(element, tensors);
  } else if (value.isInt() || value.isDouble() || value.isBool()) {
    tensors.push_back(at::scalar_tensor(value.toScalar(), at::TensorOptions(at::kDouble)));
  }
}

Tensors run(torch::jit::Module& module, const InputTuple& inputs, const char* which) {
  Tensors outputs;
  try {
    c10::InferenceMode guard;
    flatten(module.forward(inputs), outputs);
  } catch (const std::exception& error) {
    const std::string missing = missing_operator(error.what());
    fail(fmt::format("{} doesn't run: {}", which, missing.empty() ? error.what() : missing));
  }
  return outputs;
}

// Changes the tensors, of which `change` is given the number.
template <typename Change>
Values with_tensors(Values values, const Change& change) {
  size_t number = 0;
  for (c10::IValue& value : values) {
    if (value.isTensor()) value = change(number++, value.toTensor());
  }
  return values;
}

Values with_original_dtypes(const Values& values, const Metadata& metadata) {
  return with_tensors(values, [&](size_t number, const at::Tensor& tensor) {
    return to_interface(tensor, metadata.inputs.at(number).original);
  });
}

std::vector<c10::IValue> elements_of(const c10::IValue& value) {
  if (value.isTuple()) return value.toTupleRef().elements().vec();
  if (value.isTensor()) return {value};
  return value.isList() ? value.toListRef().vec() : std::vector<c10::IValue>();
}

// One sample: the arguments of forward.
Values read_sample(const c10::IValue& value, const ForwardArguments& arguments, const std::string& path) {
  const auto values = take_apart(arguments, elements_of(value));
  if (values) return *values;
  throw ConvertError(ExitCode::kBadFile,
                     fmt::format("{}: arguments found that aren't those of the converted forward: {} of type {}", path,
                                 arguments.size(), bundled_type(arguments)));
}

std::vector<Values> read_inputs_file(const std::string& path, const ForwardArguments& arguments, size_t tensors) {
  std::ifstream stream(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream && bytes.empty()) throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}", path));
  c10::IValue value;
  try {
    value = torch::jit::pickle_load(bytes);
  } catch (const std::exception& error) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}; write it with torch.save((x, ...), path)",
                                                       path, first_line(error)));
  }
  const std::vector<c10::IValue> elements = elements_of(value);
  if (elements.empty() || take_apart(arguments, elements)) return {read_sample(value, arguments, path)};
  std::vector<Values> samples;
  for (const c10::IValue& sample : elements[0].isTensor() ? std::vector<c10::IValue>{value} : elements) {
    if (tensors == arguments.size() && elements_of(sample).size() != tensors) {
      throw ConvertError(ExitCode::kBadFile,
                         fmt::format("{}: {} tensors found, {} needed", path, elements_of(sample).size(), tensors));
    }
    samples.push_back(read_sample(sample, arguments, path));
  }
  return samples;
}

// The type to make a sample of: sizes from the spec, else from the converted file; flexible ones get a default.
TensorType sample_type(const MetadataInput& input, const InputSpec* spec) {
  TensorType type = input.type;
  for (size_t axis = 0; axis < type.rank(); ++axis) {
    if (type.dims[axis].is_fixed()) continue;
    const bool is_given = spec != nullptr && axis < spec->sizes.size() && spec->sizes[axis];
    type.dims[axis] = is_given ? Dim(*spec->sizes[axis]) : Dim(axis == 0 ? 1 : kFlexibleSize);
  }
  return type;
}

std::vector<Values> make_samples(const VerifyRequest& request, const Metadata& metadata,
                                 const ForwardArguments& arguments, int count) {
  if (!request.inputs_file.empty()) {
    std::vector<Values> samples = read_inputs_file(request.inputs_file, arguments, metadata.inputs.size());
    for (Values& sample : samples) {
      sample = with_tensors(sample, [&](size_t number, const at::Tensor& tensor) {
        return to_interface(tensor, metadata.inputs.at(number).type);
      });
    }
    return samples;
  }
  std::vector<Values> samples(static_cast<size_t>(count));
  for (size_t number = 0; number < samples.size(); ++number) {
    const auto random = [&](size_t i) {
      const InputSpec* spec = i < request.inputs.size() ? &request.inputs[i] : nullptr;
      const uint64_t seed = request.seed + 1000 * (number + 1) + i;
      return random_tensor(sample_type(metadata.inputs.at(i), spec), seed, kFlexibleSize);
    };
    samples[number] = sample_leaves(arguments, random, "whole inputs with --inputs");
  }
  return samples;
}

ForwardArguments arguments_of(const ConvertedFile& converted) {
  std::vector<std::string> names;
  for (const MetadataInput& input : converted.metadata.inputs) names.push_back(input.name);
  return read_arguments(converted.module.get_method("forward").function().getSchema(), names, nullptr);
}

at::Tensor real_values(const at::Tensor& tensor) {
  return (tensor.is_quantized() ? tensor.dequantize() : tensor).to(at::kDouble);
}

// Sums over the samples of one output.
class Accumulator {
 public:
  void add(const at::Tensor& original, const at::Tensor& converted) {
    if (shape_.empty()) {
      shape_ = fmt::format("[{}]", fmt::join(original.sizes(), ", "));
      dtype_ = dtype_name(converted.scalar_type());
      first_ = real_values(original);
    }
    ++samples_;
    if (original.numel() == 0) return;  // nothing was detected, for example
    const at::Tensor expected = real_values(original);
    const at::Tensor error = (real_values(converted) - expected).abs();
    difference_ = std::max(difference_, difference(expected));
    const double largest = error.max().item().toDouble();
    max_error_ = std::isnan(largest) ? std::numeric_limits<double>::infinity() : std::max(max_error_, largest);
    lowest_ = std::min(lowest_, expected.min().item().toDouble());
    highest_ = std::max(highest_, expected.max().item().toDouble());
    signal_ += expected.square().sum().item().toDouble();
    noise_ += error.square().sum().item().toDouble();
    const at::Tensor same = expected.argmax(-1).eq(real_values(converted).argmax(-1));
    agreed_ += same.sum().item().toDouble();
    rows_ += static_cast<double>(same.numel());
  }

  OutputComparison result(const Quantization& quantization) const {
    OutputComparison comparison;
    comparison.shape = shape_;
    comparison.dtype = dtype_;
    comparison.range = rows_ > 0 ? highest_ - lowest_ : 0;
    comparison.is_constant = !(comparison.range > 0);
    comparison.ignores_input = samples_ > 1 && difference_ < VerifyDefaults::kVaryingShare * comparison.range;
    comparison.max_error = max_error_;
    const double scale = comparison.is_constant ? std::max(rows_ > 0 ? std::abs(highest_) : 0, 1.0) : comparison.range;
    comparison.relative_error = max_error_ / scale;
    comparison.snr_db = noise_ > 0 ? 10 * std::log10(signal_ / noise_) : std::numeric_limits<double>::infinity();
    comparison.top1 = rows_ > 0 ? agreed_ / rows_ : 1;
    if (quantization.scale > 0) comparison.quanta = max_error_ / quantization.scale;
    return comparison;
  }

 private:
  // From the first sample's result; results of another size differ without limit.
  double difference(const at::Tensor& expected) const {
    if (expected.sizes() != first_.sizes()) return std::numeric_limits<double>::infinity();
    return (expected - first_).abs().max().item().toDouble();
  }

  std::string shape_, dtype_;
  at::Tensor first_;
  int samples_ = 0;
  double difference_ = 0;  // largest between the first sample's result and another's
  double max_error_ = 0, signal_ = 0, noise_ = 0, agreed_ = 0, rows_ = 0;
  double lowest_ = std::numeric_limits<double>::infinity();
  double highest_ = -std::numeric_limits<double>::infinity();
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

void check_same_outputs(const Tensors& original, const Tensors& converted) {
  if (original.size() != converted.size()) {
    fail(fmt::format("the original gives {} tensors and the converted model {}", original.size(), converted.size()));
  }
  for (size_t i = 0; i < original.size(); ++i) {
    if (original[i].sizes() == converted[i].sizes()) continue;
    fail(fmt::format("output {}: shape [{}] found, [{}] needed", i, fmt::join(converted[i].sizes(), ", "),
                     fmt::join(original[i].sizes(), ", ")));
  }
}

void judge(Verification& result, const VerifyRequest& request) {
  using Defaults = VerifyDefaults;
  if (result.reference) {
    const double ratio = result.is_per_channel ? Defaults::kMaxPerChannelRatio : Defaults::kMaxDistanceRatio;
    result.criterion = fmt::format("NNAPI at most {} times as far from the float model as TorchScript{}", ratio,
                                   result.is_per_channel ? ", whose weights are per channel" : "");
    result.passed = result.reference->converted <= ratio * result.reference->original;
    return;
  }
  const bool by_snr = result.is_quantized && !request.tolerance;
  const double tolerance = request.tolerance.value_or(Defaults::kFloatTolerance);
  result.criterion = by_snr ? fmt::format("SNR of at least {} dB", Defaults::kQuantizedSnr)
                            : fmt::format("max error at most {:g} of the output's range", tolerance);
  result.passed = std::all_of(result.outputs.begin(), result.outputs.end(), [&](const OutputComparison& output) {
    return by_snr ? output.snr_db >= Defaults::kQuantizedSnr : output.relative_error <= tolerance;
  });
}

}  // namespace

Verification verify(const VerifyRequest& request) {
  load_host_library();
  Diagnostics ignored;
  LoadedModel original = load_model(request.original, ignored);
  ConvertedFile converted = read_converted_file(request.converted);
  std::optional<LoadedModel> reference;
  if (!request.reference.empty()) reference = load_model(request.reference, ignored);
  const int count = request.samples.value_or(reference ? VerifyDefaults::kReferenceSamples : VerifyDefaults::kSamples);
  const ForwardArguments arguments = arguments_of(converted);
  const std::vector<Values> samples = make_samples(request, converted.metadata, arguments, count);
  std::vector<Accumulator> accumulators(converted.metadata.outputs.size());
  Distance original_distance, converted_distance;
  for (const Values& sample : samples) {
    const InputTuple for_original = assemble(arguments, with_original_dtypes(sample, converted.metadata));
    const Tensors expected = run(original.module, for_original, "the original");
    const Tensors found = run(converted.module, assemble(arguments, sample), "the converted model");
    check_same_outputs(expected, found);
    if (accumulators.size() < expected.size()) accumulators.resize(expected.size());
    for (size_t i = 0; i < expected.size(); ++i) accumulators[i].add(expected[i], found[i]);
    if (!reference) continue;
    const Values floats = with_tensors(
        sample, [](size_t, const at::Tensor& tensor) { return tensor.is_quantized() ? tensor.dequantize() : tensor; });
    const Tensors truth = run(reference->module, assemble(arguments, floats), "the float reference");
    check_same_outputs(truth, found);
    original_distance.add(expected, truth);
    converted_distance.add(found, truth);
  }
  Verification result;
  result.samples = static_cast<int>(samples.size());
  result.is_quantized = converted.metadata.quant != "none";
  const bool loses_channels = result.is_quantized && converted.runtime == Runtime::kPytorch;
  result.is_per_channel = loses_channels && has_per_channel_weights(original.module);
  for (size_t i = 0; i < accumulators.size(); ++i) {
    const auto& outputs = converted.metadata.outputs;
    result.outputs.push_back(accumulators[i].result(i < outputs.size() ? outputs[i] : Quantization()));
  }
  if (reference) result.reference = ReferenceDistance{original_distance.rms(), converted_distance.rms()};
  judge(result, request);
  return result;
}

std::string to_text(const Verification& verification) {
  std::string text = fmt::format("{:<8} {:<18} {:<8} {:>11} {:>11} {:>9} {:>7} {:>7}\n", "output", "shape", "dtype",
                                 "max error", "of range", "SNR dB", "top-1", "quanta");
  for (size_t i = 0; i < verification.outputs.size(); ++i) {
    const OutputComparison& output = verification.outputs[i];
    text += fmt::format("{:<8} {:<18} {:<8} {:>11.3g} {:>11.3g} {:>9.1f} {:>6.1f}% {:>7}\n", i, output.shape,
                        output.dtype, output.max_error, output.relative_error, output.snr_db, 100 * output.top1,
                        output.quanta ? fmt::format("{:.1f}", *output.quanta) : "-");
  }
  for (size_t i = 0; i < verification.outputs.size(); ++i) {
    if (verification.outputs[i].is_constant) {
      text += fmt::format("warning: output {} is the same everywhere: this compares nothing\n", i);
    } else if (verification.outputs[i].ignores_input) {
      text += fmt::format(
          "warning: output {} hardly depends on the input: this compares little; are the weights trained?\n", i);
    }
  }
  if (verification.reference) {
    text += fmt::format("distance from the float model (RMS): TorchScript {:.4g}, NNAPI {:.4g}, ratio {:.3f}\n",
                        verification.reference->original, verification.reference->converted,
                        verification.reference->ratio());
  }
  return text + fmt::format("{} ({} samples; needed: {})\n", verification.passed ? "passed" : "FAILED",
                            verification.samples, verification.criterion);
}

}  // namespace nnapi_convert
