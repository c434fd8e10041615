// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/emitted_class.h"

#include <ATen/ATen.h>
#include <caffe2/serialize/versions.h>
#include <fmt/format.h>
#include <torch/csrc/jit/serialization/import_source.h>

#include <cstring>

#include "lib/serialize/argument_source.h"
#include "lib/serialize/wrapper_source.h"

namespace nnapi_convert {
namespace {

c10::IValue bundled_list(const BundledInputs& samples, std::vector<c10::TypePtr> types) {
  c10::impl::GenericList list(c10::TupleType::create(std::move(types)));
  for (const auto& sample : samples) {
    std::vector<c10::IValue> values;
    for (const c10::IValue& value : sample)
      values.push_back(value.isTensor() ? compact_sample(value.toTensor()) : value);
    list.push_back(c10::ivalue::Tuple::create(std::move(values)));
  }
  return list;
}

}  // namespace

at::Tensor compact_sample(const at::Tensor& tensor) {
  if (tensor.numel() < 2) return tensor;
  const at::Tensor flat = tensor.contiguous().view({-1});
  const at::Tensor values = tensor.is_quantized() ? flat.int_repr() : flat;
  if (!values.eq(values[0]).all().item().toBool()) return tensor.contiguous();
  return flat.slice(0, 0, 1).clone().as_strided(tensor.sizes(), std::vector<int64_t>(tensor.sizes().size(), 0));
}

std::string free_class_name(const torch::jit::CompilationUnit& unit, const std::string& name) {
  std::string found = name;
  for (int number = 2; unit.get_class(c10::QualifiedName(qualified_class(found))) != nullptr; ++number) {
    found = name + std::to_string(number);
  }
  return found;
}

torch::jit::Module make_object(const std::string& text, const ClassPlace& place) {
  const auto unit = place.unit ? place.unit : std::make_shared<torch::jit::CompilationUnit>();
  const auto source = std::make_shared<torch::jit::Source>(text, "nnapi_convert.py", 1);
  const std::vector<c10::IValue> constants;
  // Returns source only for our own namespace; the importer also asks for the namespaces of classes.
  const auto load = [&](const std::string& qualifier) -> std::shared_ptr<torch::jit::Source> {
    return qualifier == kWrapperNamespace ? source : nullptr;
  };
  const torch::jit::SourceImporter importer(unit, &constants, load, caffe2::serialize::kProducedFileFormatVersion);
  const auto type = importer.loadType(c10::QualifiedName(qualified_class(place.name)))->expect<c10::ClassType>();
  return torch::jit::Module(unit, type);
}

namespace {

void add_named_types(const c10::TypePtr& type, torch::jit::CompilationUnit& unit) {
  for (const c10::TypePtr& each : type->containedTypes()) add_named_types(each, unit);
  const auto named = type->cast<c10::TupleType>();
  if (named != nullptr && named->name() && unit.get_type(*named->name()) == nullptr) unit.register_type(named);
}

}  // namespace

void add_named_types(const ReturnTree& tree, ClassPlace& place) {
  if (!place.unit) place.unit = std::make_shared<torch::jit::CompilationUnit>();
  if (tree.named != nullptr) add_named_types(tree.named, *place.unit);
  for (const ReturnTree& element : tree.elements) add_named_types(element, place);
}

void add_named_types(const ForwardArguments& arguments, torch::jit::CompilationUnit& unit) {
  for (const Argument& argument : arguments) add_named_types(argument.tree.type, unit);
}

std::string bundled_type(const BundledInputs& bundled_inputs, const ModuleInterface& interface) {
  if (bundled_inputs.empty()) return "";
  if (!interface.arguments.empty()) return bundled_type(interface.arguments);
  std::string text;
  for (size_t i = 0; i < bundled_inputs[0].size(); ++i) text += i ? ", Tensor" : "Tensor";
  return "Tuple[" + text + "]";
}

void set_bundled_inputs(torch::jit::Module& module, const BundledInputs& bundled_inputs,
                        const ModuleInterface& interface) {
  if (bundled_inputs.empty()) return;
  if (!interface.arguments.empty()) return set_bundled_inputs(module, bundled_inputs, interface.arguments);
  std::vector<c10::TypePtr> types(bundled_inputs[0].size(), c10::TensorType::get());
  module.setattr("bundled_inputs", bundled_list(bundled_inputs, std::move(types)));
}

void set_bundled_inputs(torch::jit::Module& module, const BundledInputs& bundled_inputs,
                        const ForwardArguments& arguments) {
  if (bundled_inputs.empty()) return;
  std::vector<c10::TypePtr> types;
  for (const Argument& argument : arguments) types.push_back(argument.tree.type);
  module.setattr("bundled_inputs", bundled_list(bundled_inputs, std::move(types)));
}

void set_defaults(const torch::jit::Module& module, const ForwardArguments& arguments) {
  torch::jit::Function& forward = module.get_method("forward").function();
  const c10::FunctionSchema& schema = forward.getSchema();
  std::vector<c10::Argument> with_defaults = {schema.arguments()[0]};
  for (const Argument& argument : arguments) {
    with_defaults.emplace_back(argument.name, argument.tree.type, c10::nullopt, argument.default_value);
  }
  forward.setSchema(schema.cloneWithArguments(std::move(with_defaults)));
}

void set_constant_outputs(torch::jit::Module& module, const ModuleInterface& interface) {
  for (size_t i = 0; i < interface.outputs.size(); ++i) {
    if (interface.outputs[i].source != InterfaceOutput::Source::kConstant) continue;
    module.setattr(fmt::format("constant_{}", i), interface.outputs[i].constant);
  }
}

at::Tensor words_tensor(const std::vector<int32_t>& words) {
  at::Tensor tensor = at::empty({static_cast<int64_t>(words.size())}, at::kInt);
  std::memcpy(tensor.data_ptr(), words.data(), 4 * words.size());
  return tensor;
}

}  // namespace nnapi_convert
