// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/verify/verify_inputs.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "lib/base/counted.h"
#include "lib/base/error.h"
#include "lib/base/file_bytes.h"
#include "lib/base/held_back.h"
#include "lib/base/picture_list.h"
#include "lib/converter/emit/recorded_options.h"
#include "lib/converter/frontend/argument_samples.h"
#include "lib/converter/frontend/bound_arguments.h"
#include "lib/converter/frontend/sample_inputs.h"
#include "lib/converter/graph/read_problem.h"
#include "lib/converter/load/method_view.h"
#include "lib/converter/load/saved_tensors.h"
#include "lib/converter/samples/calibration_samples.h"
#include "lib/converter/verify/sample_sizes.h"
#include "lib/quantise/recorded_calibration.h"
#include "lib/serialize/argument_source.h"

namespace nnapi_convert {
namespace {

std::vector<c10::IValue> elements_of(const c10::IValue& value) {
  if (value.isTuple()) return value.toTupleRef().elements().vec();
  if (value.isTensor()) return {value};
  return value.isList() ? value.toListRef().vec() : std::vector<c10::IValue>();
}

// Reads one sample: the arguments of forward.
Values read_sample(const c10::IValue& value, const ForwardArguments& arguments, const std::string& path) {
  const auto values = take_apart(arguments, elements_of(value));
  if (values) return *values;
  throw ConvertError(ExitCode::kBadFile,
                     fmt::format("{}: arguments found that aren't those of the converted forward: {} of type {}", path,
                                 arguments.size(), bundled_type(arguments)));
}

std::vector<Values> read_inputs_file(const std::string& path, const ForwardArguments& arguments, size_t tensors) {
  calibration::check_readable(path);
  c10::IValue value;
  try {
    value = load_saved(path);
  } catch (const std::exception& error) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}; write it with torch.save((x, ...), path)",
                                                       path, read_problem(error)));
  }
  const std::vector<c10::IValue> elements = elements_of(value);
  if (elements.empty() || take_apart(arguments, elements)) return {read_sample(value, arguments, path)};
  std::vector<Values> samples;
  for (const c10::IValue& sample : elements[0].isTensor() ? std::vector<c10::IValue>{value} : elements) {
    if (tensors == arguments.size() && elements_of(sample).size() != tensors) {
      throw ConvertError(ExitCode::kBadFile, fmt::format("{}: {} found, {} needed", path,
                                                         counted(elements_of(sample).size(), "tensor"), tensors));
    }
    samples.push_back(read_sample(sample, arguments, path));
  }
  return samples;
}

// Returns the request's spec of an input of `forward`, by its name, or by position if the spec has no name.
const InputSpec* spec_of(const VerifyRequest& request, const c10::FunctionSchema& forward, const std::string& name,
                         size_t position) {
  for (const InputSpec& spec : request.inputs) {
    if (name_of_value(forward, spec.name) == name) return &spec;
  }
  const bool is_given = position < request.inputs.size() && request.inputs[position].name.empty();
  return is_given ? &request.inputs[position] : nullptr;
}

std::vector<TensorType> sample_types(const VerifyRequest& request, const LoadedModel& original,
                                     const Metadata& metadata) {
  const c10::FunctionSchema& forward = original.module.get_method("forward").function().getSchema();
  std::vector<TensorType> types;
  for (size_t i = 0; i < metadata.inputs.size(); ++i) {
    const ExportedTensor* stated = original.stated.size() == metadata.inputs.size() ? &original.stated[i] : nullptr;
    types.push_back(sample_type(metadata.inputs[i], metadata.conditions,
                                spec_of(request, forward, metadata.inputs[i].name, i), stated));
  }
  return types;
}

// Returns the element whose path is `name`: an argument or a part of one. Returns nullptr if there is none.
const ArgumentTree* find_argument(const ArgumentTree& tree, const std::string& name) {
  if (tree.path == name) return &tree;
  for (const ArgumentTree& element : tree.elements) {
    if (const ArgumentTree* found = find_argument(element, name)) return found;
  }
  return nullptr;
}

const ArgumentTree* find_argument(const ForwardArguments& arguments, const std::string& name) {
  for (const Argument& argument : arguments) {
    if (const ArgumentTree* found = find_argument(argument.tree, name)) return found;
  }
  return nullptr;
}

std::string spec_text(const InputSpec& spec) {
  return spec.name.empty() ? spec.text : fmt::format("{}={}", spec.name, spec.text);
}

void check_sizes(const InputSpec& spec, const MetadataInput& input) {
  if (!spec.problem.empty()) throw ConvertError(ExitCode::kUsage, spec.problem);
  const Dims& dims = input.type.dims;
  bool fits = spec.sizes.size() == dims.size();
  std::vector<std::string> sizes;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const bool is_given = fits && dims[axis].is_fixed() && spec.sizes[axis];
    fits = fits && (!is_given || *spec.sizes[axis] == dims[axis].value());
    sizes.push_back(dims[axis].is_fixed() ? std::to_string(dims[axis].value()) : "?");
  }
  if (fits) return;
  throw ConvertError(ExitCode::kUsage,
                     fmt::format("--input {}: {} takes {} in the converted model", spec_text(spec), input.name,
                                 sizes.empty() ? "a scalar" : fmt::format("{}", fmt::join(sizes, ","))));
}

// Throws ConvertError (kUsage) for specs that fit no argument of the converted model.
void check_specs(const VerifyRequest& request, const LoadedModel& original, const Metadata& metadata,
                 const ForwardArguments& arguments) {
  const c10::FunctionSchema& forward = original.module.get_method("forward").function().getSchema();
  for (size_t position = 0; position < request.inputs.size(); ++position) {
    const InputSpec& spec = request.inputs[position];
    const std::string name = name_of_value(forward, spec.name);
    const auto input = std::find_if(metadata.inputs.begin(), metadata.inputs.end(),
                                    [&](const MetadataInput& each) { return each.name == name; });
    if (input != metadata.inputs.end()) {
      check_sizes(spec, *input);
    } else if (spec.name.empty() && position < metadata.inputs.size()) {
      check_sizes(spec, metadata.inputs[position]);
    } else if (spec.name.empty()) {
      throw ConvertError(ExitCode::kUsage, fmt::format("--input {}: the converted model takes {}", spec_text(spec),
                                                       counted(metadata.inputs.size(), "tensor")));
    } else if (find_argument(arguments, name) == nullptr) {
      throw ConvertError(ExitCode::kUsage,
                         fmt::format("--input {}: the converted model has no argument {}", spec_text(spec), spec.name));
    }
  }
}

// Returns the values that specs give to arguments that are no tensors: --input n=1. Throws ConvertError (kUsage) for
// another value than the one that an argument was bound to.
BoundValues given_values(const VerifyRequest& request, const LoadedModel& original, const ForwardArguments& arguments) {
  const c10::FunctionSchema& forward = original.module.get_method("forward").function().getSchema();
  std::vector<BoundArgument> given;
  for (const InputSpec& spec : request.inputs) {
    const ArgumentTree* argument = find_argument(arguments, name_of_value(forward, spec.name));
    if (argument != nullptr && !argument->is_tensor() && argument->elements.empty()) {
      given.push_back({spec.name, spec.text});
    }
  }
  BoundValues values = bound_values(forward, given);
  for (const auto& [name, value] : values) {
    const ArgumentTree* argument = find_argument(arguments, name);
    if (argument->kind != ArgumentTree::Kind::kBound || argument->bound.isTensor() || argument->bound == value)
      continue;
    throw ConvertError(ExitCode::kUsage,
                       fmt::format("--input {}: the model was converted for another value of {}", name, name));
  }
  return values;
}

// Returns the use of each input of the original.
std::vector<InputUse> uses_for(const LoadedModel& original, const Metadata& metadata,
                               const std::vector<TensorType>& types) {
  std::vector<std::string> names;
  std::vector<TensorType> original_types;
  for (size_t i = 0; i < metadata.inputs.size(); ++i) {
    names.push_back(metadata.inputs[i].name);
    original_types.push_back(metadata.inputs[i].original);
    original_types.back().dims = types[i].dims;
  }
  return input_uses(original, names, original_types);
}

bool fits(const TensorType& type, const at::Tensor& tensor) {
  if (static_cast<size_t>(tensor.dim()) != type.rank()) return false;
  for (size_t axis = 0; axis < type.rank(); ++axis) {
    const Dim& dim = type.dims[axis];
    if (dim.is_fixed() && dim.value() != tensor.size(static_cast<int64_t>(axis))) return false;
  }
  return true;
}

// Returns the sample that an exported program stores, or the first inputs bundled with a TorchScript file; nothing
// where the file was converted for other sizes.
std::optional<Values> stored_sample(const LoadedModel& original, const Metadata& metadata,
                                    const ForwardArguments& arguments) {
  if (original.bundled_inputs.empty()) return std::nullopt;
  const auto values = take_apart(arguments, original.bundled_inputs[0]);
  if (!values) return std::nullopt;
  bool is_fit = true;
  Values sample = with_tensors(*values, [&](size_t number, const at::Tensor& tensor) {
    const bool is_known = number < metadata.inputs.size();
    is_fit = is_fit && is_known && fits(metadata.inputs[number].type, tensor);
    return is_fit ? to_interface(tensor, metadata.inputs[number].type) : tensor;
  });
  return is_fit ? std::optional<Values>(std::move(sample)) : std::nullopt;
}

std::vector<at::Tensor> tensors_of(const std::optional<Values>& sample) {
  std::vector<at::Tensor> tensors;
  if (!sample) return tensors;
  with_tensors(*sample, [&](size_t, const at::Tensor& tensor) { return tensors.emplace_back(tensor); });
  return tensors;
}

// Reads samples as a calibration does, with the file's options for pictures.
std::vector<Values> like_calibration(const VerifyRequest& request, const LoadedModel& original,
                                     const ConvertedFile& converted, const ForwardArguments& arguments) {
  CalibrationOptions options;
  options.source = request.inputs_file;
  options.is_of_verify = !request.hold_back;
  if (!calibration::names_arrays(options.source))
    options.pictures = recorded_pictures(converted).value_or(PictureChoice());
  ModuleInterface interface;
  for (const MetadataInput& input : converted.metadata.inputs) {
    TensorType type = input.type.is_quantized() ? TensorType{at::kFloat, input.type.dims, {}} : input.type;
    interface.inputs.push_back({input.name, type, std::nullopt, true, input.original});
  }
  Diagnostics ignored;
  std::vector<Values> samples;
  const CalibrationSamples all = read_calibration(options, interface, original, ignored).samples;
  // Takes all arrays for a file that no data quantised: they are few, and meant.
  const bool are_all_meant = calibration::names_arrays(options.source) && !recorded_calibration(converted);
  const int most = are_all_meant ? static_cast<int>(all.size()) : VerifyDefaults::kReferenceSamples;
  size_t limit = static_cast<size_t>(request.samples.value_or(most));
  const std::vector<bool> is_held_back = held_back(all.size(), request.hold_back.value_or(HoldBack()));
  const bool is_any_held_back = request.hold_back && std::count(is_held_back.begin(), is_held_back.end(), true) > 0;
  for (size_t number = 0; number < all.size(); ++number) {
    if (is_any_held_back && !is_held_back[number]) continue;
    if (limit-- == 0) break;
    const std::vector<at::Tensor>& tensors = all[number];
    const auto tensor = [&](size_t i) { return to_interface(tensors.at(i), converted.metadata.inputs.at(i).type); };
    samples.push_back(sample_leaves(arguments, tensor, "tensors as arguments"));
  }
  return samples;
}

}  // namespace

VerifyRequest request_of_method(const VerifyRequest& request, const std::string& method,
                                const std::vector<std::string>& methods) {
  VerifyRequest result = request;
  result.method = method;
  if (request.inputs.empty()) return result;
  Diagnostics ignored;
  const LoadedModel loaded = load_model(request.original, ignored);
  const auto number = static_cast<size_t>(std::find(methods.begin(), methods.end(), method) - methods.begin());
  result.inputs = inputs_by_method(loaded.module, methods, request.inputs).at(number);
  return result;
}

LoadedModel load_method(const std::string& path, const std::string& method) {
  Diagnostics ignored;
  LoadedModel loaded = load_model(path, ignored);
  if (!method.empty()) return as_forward(loaded, method);
  check_has_forward(loaded);
  return loaded;
}

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

Tensors with_numbers_of(const Tensors& original, Tensors results) {
  for (size_t i = 0; i < results.size() && i < original.size(); ++i) {
    const bool is_number = original[i].dim() == 0 && original[i].scalar_type() == at::kDouble;
    if (is_number && results[i].dim() == 0) results[i] = results[i].to(at::kDouble);
  }
  return results;
}

Values with_original_dtypes(const Values& values, const Metadata& metadata) {
  return with_tensors(values, [&](size_t number, const at::Tensor& tensor) {
    return to_interface(tensor, metadata.inputs.at(number).original);
  });
}

SampleMaker::SampleMaker(const VerifyRequest& request, const LoadedModel& original, const ConvertedFile& converted,
                         const ForwardArguments& arguments)
    : request_(request), original_(original), converted_(converted), arguments_(arguments) {
  if (!is_made_up()) return;
  const Metadata& metadata = converted.metadata;
  check_specs(request, original, metadata, arguments);
  values_ = given_values(request, original, arguments);
  stored_ = stored_sample(original, metadata, arguments);
  const std::vector<TensorType> types = sample_types(request, original, metadata);
  const std::vector<InputUse> uses = uses_for(original, metadata, types);
  const c10::FunctionSchema& forward = original.module.get_method("forward").function().getSchema();
  const std::vector<at::Tensor> examples = tensors_of(stored_);
  const auto calibration = recorded_calibration(converted);
  for (size_t i = 0; i < types.size(); ++i) {
    MadeInput& input = inputs_.emplace_back(MadeInput{types[i], uses.at(i)});
    open_axes_.push_back(open_axes(metadata.inputs[i], spec_of(request, forward, metadata.inputs[i].name, i)));
    if (i < examples.size()) input.example = examples[i];
    if (!calibration) continue;
    const auto fed = std::find_if(calibration->fed.begin(), calibration->fed.end(),
                                  [&](const FedRange& range) { return range.input == metadata.inputs[i].name; });
    if (fed != calibration->fed.end()) input.fed = *fed;
  }
}

bool SampleMaker::has_open_sizes() const {
  return std::any_of(open_axes_.begin(), open_axes_.end(),
                     [](const std::vector<size_t>& axes) { return !axes.empty(); });
}

std::vector<TensorType> SampleMaker::types_of_sample(size_t number) const {
  const bool is_stated = original_.stated.size() == inputs_.size();
  const auto other = [&](int input, int axis) {
    const Dim& size = inputs_.at(static_cast<size_t>(input)).type.dims.at(static_cast<size_t>(axis));
    const Dim own = Dim::of_input(input, axis);
    return range_of(own, converted_.metadata.conditions).nearest(other_size(size.value(), number));
  };
  std::vector<TensorType> usual, types;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Dims& converted = converted_.metadata.inputs[i].type.dims;
    usual.push_back(inputs_[i].type);
    types.push_back(inputs_[i].type);
    for (const size_t axis : open_axes_[i]) {
      const bool is_known = is_stated && axis < original_.stated[i].sizes.size();
      Dim& size = types[i].dims[axis];
      size = Dim(is_known ? other_size(original_.stated[i].sizes[axis], number) : converted.at(axis).evaluate(other));
    }
  }
  return hold(converted_.metadata.conditions, types) ? types : usual;
}

bool SampleMaker::has_integers() const {
  return std::any_of(inputs_.begin(), inputs_.end(),
                     [](const MadeInput& input) { return c10::isIntegralType(input.type.dtype, false); });
}

bool SampleMaker::has_masks() const {
  return std::any_of(inputs_.begin(), inputs_.end(),
                     [](const MadeInput& input) { return input.use.is_word() || input.use.mask.is_mask(); });
}

bool SampleMaker::has_floats() const {
  return std::any_of(inputs_.begin(), inputs_.end(),
                     [](const MadeInput& input) { return c10::isFloatingType(input.type.dtype) && !input.fed; });
}

std::vector<Values> SampleMaker::samples(int count, const MadeUp& how) const {
  if (!is_made_up()) return given();
  std::vector<Values> samples(static_cast<size_t>(count));
  for (size_t number = 0; number < samples.size(); ++number) {
    if (number == 0 && stored_ && values_.empty()) {
      samples[number] = *stored_;
      continue;
    }
    std::vector<MadeInput> inputs = inputs_;
    if (how.has_various_sizes) {
      const std::vector<TensorType> types = types_of_sample(number);
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].type.dims != types[i].dims) inputs[i].example.reset();
        inputs[i].type = types[i];
      }
    }
    const auto made = [&](size_t i) {
      return make_up(inputs.at(i), how, ending_of(number, samples.size()), request_.seed + 1000 * (number + 1) + i);
    };
    samples[number] =
        sample_leaves(arguments_, made, "whole inputs with --inputs", stored_.value_or(Values()), values_);
  }
  return samples;
}

std::vector<Values> SampleMaker::given() const {
  const bool are_pictures = calibration::names_pictures(request_.inputs_file);
  const bool has_pictures = recorded_pictures(converted_) || recorded_pixels(converted_);
  const bool are_arrays = calibration::names_arrays(request_.inputs_file);
  if (recorded_calibration(converted_) || are_arrays || (are_pictures && has_pictures)) {
    return like_calibration(request_, original_, converted_, arguments_);
  }
  const std::vector<MetadataInput>& inputs = converted_.metadata.inputs;
  std::vector<Values> samples = read_inputs_file(request_.inputs_file, arguments_, inputs.size());
  for (Values& sample : samples) {
    sample = with_tensors(
        sample, [&](size_t number, const at::Tensor& tensor) { return to_interface(tensor, inputs.at(number).type); });
  }
  return samples;
}

std::vector<bool> SampleMaker::takes_indices() const {
  std::vector<bool> result;
  for (const MadeInput& input : inputs_) result.push_back(input.use.range.has_value());
  return result;
}

ForwardArguments arguments_of(const ConvertedFile& converted) {
  std::vector<std::string> names;
  for (const MetadataInput& input : converted.metadata.inputs) names.push_back(input.name);
  const c10::FunctionSchema& schema = converted.module.get_method("forward").function().getSchema();
  return read_arguments(schema, names, nullptr, bound_values(schema, recorded_bound(converted)));
}

}  // namespace nnapi_convert
