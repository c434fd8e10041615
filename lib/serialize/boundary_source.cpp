// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/boundary_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/serialize/size_conditions.h"
#include "lib/serialize/source_text.h"

namespace nnapi_convert {
namespace {

std::string as_dtype(const std::string& text, at::ScalarType dtype) {
  return fmt::format("torch.to({}, {}, False, False, None)", text, static_cast<int>(dtype));
}

// Returns the condition that a number differs from `needed` as float32, the type of NNAPI's scales.
std::string differs_as_float(const std::string& found, float needed) {
  const double low = (static_cast<double>(needed) + std::nextafter(needed, 0.0F)) / 2;
  const double high = (static_cast<double>(needed) + std::nextafter(needed, std::numeric_limits<float>::max())) / 2;
  return fmt::format("torch.__or__(torch.lt({0}, {1}), torch.gt({0}, {2}))", found, number(low), number(high));
}

// Returns the argument with the dtype of NNAPI's input, in the caller's layout.
std::string quantised_input(const InterfaceInput& input) {
  if (input.type.dtype == at::kByte)
    return fmt::format("torch._make_per_tensor_quantized_tensor({}, 1., 0)", input.name);
  if (!input.quantize) return input.name;
  return fmt::format("torch.quantize_per_tensor({}, {}, {}, 13)", input.name, number(input.quantize->scale),
                     input.quantize->zero_point);
}

// Returns sizes for people, such as "[1, 3, ?, ?]".
std::string shape_text(const Dims& dims) {
  std::string text;
  for (const Dim& dim : dims) text += (text.empty() ? "" : ", ") + (dim.is_fixed() ? dim.text() : "?");
  return "[" + text + "]";
}

}  // namespace

std::string BoundarySource::parameters() const {
  std::string text;
  for (const InterfaceInput& input : inputs()) text += fmt::format(", {}: Tensor", input.name);
  return text;
}

std::string BoundarySource::arguments() const {
  std::string text;
  for (const InterfaceInput& input : inputs()) text += input.name + ", ";
  return text;
}

std::string BoundarySource::dim_text(const Dim& dim) const {
  return dim.text([this](int input, int axis) {
    return fmt::format("torch.size({}, {})", inputs()[static_cast<size_t>(input)].name, axis);
  });
}

std::string BoundarySource::sizes_text(const Dims& dims) const {
  std::vector<std::string> sizes;
  for (const Dim& dim : dims) sizes.push_back(dim_text(dim));
  return sizes.empty() ? "annotate(List[int], [])" : fmt::format("[{}]", fmt::join(sizes, ", "));
}

std::string BoundarySource::raise_if(const std::string& condition, const std::string& name, const std::string& what,
                                     const std::string& found, const std::string& needed) {
  return raise_if(condition, fmt::format("input {}: {}", name, what), found, needed);
}

std::string BoundarySource::raise_if(const std::string& condition, const std::string& what, const std::string& found,
                                     const std::string& needed) {
  return fmt::format(
      "    if {}:\n"
      "      ops.prim.RaiseException({})\n"
      "    else:\n"
      "      pass\n",
      condition,
      message({{fmt::format("nnapi-convert: {} ", what)}, {found, true}, {fmt::format(" found, {} needed", needed)}}));
}

std::string BoundarySource::check_dtype(const InterfaceInput& input, const std::string& variable) {
  const std::string dtype = fmt::format("ops.prim.dtype({})", variable);
  const auto needed = static_cast<int>(input.type.dtype);
  std::string text = raise_if(fmt::format("torch.ne({}, {})", dtype, needed), input.name, "dtype number", dtype,
                              fmt::format("{} ({})", needed, dtype_name(input.type.dtype)));
  if (!input.type.is_quantized()) return text;
  const std::string scale = fmt::format("torch.q_scale({})", variable);
  const std::string zero_point = fmt::format("torch.q_zero_point({})", variable);
  const Quantization& quantization = input.type.quantization;
  text += raise_if(differs_as_float(scale, static_cast<float>(quantization.scale)), input.name, "scale", scale,
                   number(quantization.scale));
  text += raise_if(fmt::format("torch.ne({}, {})", zero_point, quantization.zero_point), input.name, "zero point",
                   zero_point, std::to_string(quantization.zero_point));
  return text;
}

std::string BoundarySource::check_shape(const ModuleInterface& interface, const std::vector<std::string>& variables,
                                        size_t number) {
  const InterfaceInput& input = interface.inputs[number];
  const std::string& variable = variables[number];
  const Dims& dims = input.type.dims;
  const std::string size = fmt::format("torch.size({})", variable);
  if (!dims.empty() && all_fixed(dims)) {
    return raise_if(fmt::format("torch.ne({}, {})", size, to_text(dims)), input.name, "shape", size, to_text(dims));
  }
  std::string text = raise_if(fmt::format("torch.ne(torch.dim({}), {})", variable, dims.size()), input.name, "shape",
                              size, shape_text(dims));
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == Dim::of_input(static_cast<int>(number), static_cast<int>(axis))) continue;
    const std::string found = fmt::format("torch.size({}, {})", variable, axis);
    if (dims[axis].is_fixed()) {
      text += raise_if(fmt::format("torch.ne({}, {})", found, dims[axis].text()), input.name, "shape", size,
                       shape_text(dims));
      continue;
    }
    const auto code = [&](int other, int at) {
      return fmt::format("torch.size({}, {})", variables[static_cast<size_t>(other)], at);
    };
    const auto words = [&](int other, int at) {
      return fmt::format("size {} of {}", at, interface.inputs[static_cast<size_t>(other)].name);
    };
    text += raise_if(fmt::format("torch.ne({}, {})", found, dims[axis].text(code)), input.name,
                     fmt::format("size {}:", axis), found, dims[axis].text(words));
  }
  return text;
}

std::string BoundarySource::check_conditions(const ModuleInterface& interface,
                                             const std::vector<std::string>& variables) {
  std::string text;
  const auto code = [&](int input, int axis) {
    return fmt::format("torch.size({}, {})", variables[static_cast<size_t>(input)], axis);
  };
  for (const SizeCondition& condition : interface.conditions) {
    if (!is_checked(condition, interface)) continue;
    const char* breaks = condition.kind == SizeCondition::Kind::kEqual     ? "ne"
                         : condition.kind == SizeCondition::Kind::kAtLeast ? "lt"
                                                                           : "gt";
    const ConditionText words = text_of(condition, interface);
    const std::string found = condition.left.text(code);
    text += raise_if(fmt::format("torch.{}({}, {})", breaks, found, condition.right.text(code)), words.subject, found,
                     words.needed);
  }
  return text;
}

std::string BoundarySource::check_apart(const ModuleInterface& interface, const std::vector<std::string>& variables) {
  std::string text;
  for (const size_t changed : interface.changed_inputs) {
    for (size_t i = 0; i < interface.inputs.size(); ++i) {
      const InterfaceInput &one = interface.inputs[changed], &other = interface.inputs[i];
      if (i == changed || !other.is_read) continue;
      // Quantised tensors have no is_set_to().
      const bool are_plain = !one.type.is_quantized() && !other.type.is_quantized();
      text += fmt::format(
          "    if torch.{}({}, {}):\n"
          "      ops.prim.RaiseException({})\n"
          "    else:\n"
          "      pass\n",
          are_plain ? "is_set_to" : "__is__", variables[changed], variables[i],
          message({{fmt::format("nnapi-convert: inputs {0} and {1}: one tensor found, two needed: the original changes "
                                "{0} in place, and the model was converted for tensors apart",
                                one.name, other.name)}}));
    }
  }
  return text;
}

std::vector<std::string> BoundarySource::names() const {
  std::vector<std::string> result;
  for (const InterfaceInput& input : inputs()) result.push_back(input.name);
  return result;
}

std::string BoundarySource::check_apart() const {
  return check_apart(interface_, names());
}

std::string BoundarySource::constant_attributes() const {
  std::string text;
  for (size_t i = 0; i < interface_.outputs.size(); ++i) {
    if (interface_.outputs[i].source == InterfaceOutput::Source::kConstant) {
      text += fmt::format("  constant_{} : Tensor\n", i);
    }
  }
  return text;
}

std::string BoundarySource::nnapi_input(const nnapi::Boundary& boundary) const {
  const InterfaceInput& input = inputs()[boundary.argument];
  std::string text = quantised_input(input);
  if (input.type.dtype == at::kLong || input.type.dtype == at::kBool) text = as_dtype(text, at::kInt);
  if (boundary.nhwc) text = fmt::format("torch.permute({}, [0, 2, 3, 1])", text);
  const Dims& dims = model_.at(boundary.operand).dims;
  if (dims.size() != input.type.rank()) text = fmt::format("torch.reshape({}, {})", text, sizes_text(dims));
  return fmt::format("torch.contiguous({})", text);
}

const InterfaceOutput& BoundarySource::output_of_nnapi(size_t index) const {
  const auto& outputs = interface_.outputs;
  return *std::find_if(outputs.begin(), outputs.end(), [index](const InterfaceOutput& output) {
    return output.source == InterfaceOutput::Source::kNnapi && output.index == index;
  });
}

// Returns true if the caller needs a copy of the output: a constant, which the next call returns again, or, if outputs
// are owned, an input or a tensor that is already another output.
bool BoundarySource::is_shared(size_t number) const {
  const auto& outputs = interface_.outputs;
  const InterfaceOutput& output = outputs[number];
  if (output.source == InterfaceOutput::Source::kConstant || !interface_.owns_outputs) {
    return output.source == InterfaceOutput::Source::kConstant;
  }
  return output.source == InterfaceOutput::Source::kInput || &output_of_nnapi(output.index) != &output;
}

// Returns the expression of an argument that is an output. Converts its shape and dtype: NNAPI does not tell rank 0
// from one element, nor int32 from int64.
std::string BoundarySource::input_as_output(const InterfaceOutput& output) const {
  const InterfaceInput& input = inputs()[output.index];
  std::string text = quantised_input(input);
  if (output.shape) text = fmt::format("torch.reshape({}, {})", text, sizes_text(*output.shape));
  const bool is_quantised = input.quantize || input.type.is_quantized();
  return is_quantised || output.dtype == input.type.dtype ? text : as_dtype(text, output.dtype);
}

std::string BoundarySource::output_value(size_t number) const {
  const InterfaceOutput& output = interface_.outputs[number];
  std::string text = output.source == InterfaceOutput::Source::kInput      ? input_as_output(output)
                     : output.source == InterfaceOutput::Source::kConstant ? fmt::format("self.constant_{}", number)
                                                                           : nnapi_output(output);
  if (is_shared(number)) text = fmt::format("torch.clone({})", text);
  return output.dequantize ? fmt::format("torch.dequantize({})", text) : text;
}

std::string BoundarySource::nnapi_output(const InterfaceOutput& output) const {
  std::string text = fmt::format("nnapi_output_{}", output.index);
  if (model_.outputs[output.index].nhwc) {
    text = fmt::format("torch.permute({}, [0, 3, 1, 2])", text);
    if (output.is_contiguous) text = fmt::format("torch.contiguous({})", text);
  }
  if (output.shape) text = fmt::format("torch.reshape({}, {})", text, sizes_text(*output.shape));
  return output.dtype == at::kLong ? as_dtype(text, at::kLong) : text;
}

std::string BoundarySource::return_value(const ReturnTree& tree) {
  if (tree.kind == ReturnTree::Kind::kTensor) return fmt::format("nnapi_result_{}", tree.tensor);
  if (tree.kind == ReturnTree::Kind::kConstant) {
    return fmt::format("annotate({}, {})", return_type(tree), literal(tree.constant));
  }
  std::vector<std::string> elements;
  for (const ReturnTree& element : tree.elements) elements.push_back(return_value(element));
  return collection(tree, elements);
}

}  // namespace nnapi_convert
