// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/export_signature.h"

#include <fmt/format.h>

#include "lib/base/error.h"
#include "lib/converter/load/export_json.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& what) {
  throw ConvertError(ExitCode::kNotConvertible, what);
}

c10::IValue fixed_value(const json& constant) {
  const TaggedJson value = tagged(constant);
  if (value.kind == "as_none") return {};
  if (value.kind == "as_int") return integer_of(*value.value);
  if (value.kind == "as_float") return real_of(*value.value);
  if (value.kind == "as_bool") return bool_of(*value.value);
  if (value.kind == "as_string") return text_of(*value.value);
  fail_export(fmt::format("a fixed argument of kind {} found", value.kind));
}

ExportInput read_user_input(const json& spec) {
  const json& argument = member(spec, "arg");
  const TaggedJson value = tagged(argument);
  ExportInput input;
  input.kind_of_user = value.kind;
  if (value.kind == "as_tensor") {
    input.value = text_member(*value.value, "name");
  } else if (value.kind == "as_sym_int" || value.kind == "as_sym_float" || value.kind == "as_sym_bool") {
    input.value = text_member(*value.value, "as_name");
  } else if (value.kind == "as_custom_obj") {
    refuse("forward takes a custom object, which PyTorch 1.13.1 can't read; wrap the model in a module without it");
  } else {
    input.kind = ExportInput::Kind::kFixed;
    input.fixed = fixed_value(argument);
  }
  return input;
}

ExportInput read_input(const json& json_spec) {
  const TaggedJson spec = tagged(json_spec);
  if (spec.kind == "user_input") return read_user_input(*spec.value);
  ExportInput input;
  if (spec.kind == "constant_input") {
    input.kind = ExportInput::Kind::kFixed;
    input.value = text_member(*spec.value, "name");
    input.fixed = fixed_value(member(*spec.value, "value"));
    return input;
  }
  const bool is_parameter = spec.kind == "parameter", is_buffer = spec.kind == "buffer";
  if (!is_parameter && !is_buffer && spec.kind != "tensor_constant") {
    refuse(fmt::format("the program takes an input of kind {}, which PyTorch 1.13.1 lacks", spec.kind));
  }
  input.kind = is_parameter || is_buffer ? ExportInput::Kind::kWeight : ExportInput::Kind::kConstant;
  input.is_parameter = is_parameter;
  input.value = text_member(member(*spec.value, "arg"), "name");
  const char* key = is_parameter ? "parameter_name" : is_buffer ? "buffer_name" : "tensor_constant_name";
  input.target = text_member(*spec.value, key);
  return input;
}

ExportOutput read_output(const json& json_spec) {
  const TaggedJson spec = tagged(json_spec);
  if (spec.kind == "user_output") return {ExportOutput::Kind::kUser, &member(*spec.value, "arg"), ""};
  const json* argument = find_member(*spec.value, "arg");
  if (spec.kind == "buffer_mutation") {
    return {ExportOutput::Kind::kBuffer, argument, text_member(*spec.value, "buffer_name")};
  }
  if (spec.kind == "parameter_mutation") {
    return {ExportOutput::Kind::kBuffer, argument, text_member(*spec.value, "parameter_name")};
  }
  if (spec.kind == "user_input_mutation") {
    return {ExportOutput::Kind::kInput, argument, text_member(*spec.value, "user_input_name")};
  }
  refuse(fmt::format("the program gives an output of kind {}; export the model for inference", spec.kind));
}

std::vector<std::string> names_of(const json& call) {
  std::vector<std::string> names;
  const json* list = find_member(call, "forward_arg_names");
  if (list == nullptr) return names;
  for (const json& name : list_of(*list)) names.push_back(text_of(name));
  return names;
}

}  // namespace

ExportSignature read_signature(const json& graph_module) {
  const json& signature = member(graph_module, "signature");
  ExportSignature result;
  for (const json& spec : list_of(member(signature, "input_specs"))) result.inputs.push_back(read_input(spec));
  for (const json& spec : list_of(member(signature, "output_specs"))) result.outputs.push_back(read_output(spec));
  const json& calls = list_of(member(graph_module, "module_call_graph"));
  if (calls.empty()) fail_export("no signature of forward found");
  const json& call = member(calls[0], "signature");
  result.arguments = read_tree(text_member(call, "in_spec"));
  result.results = read_tree(text_member(call, "out_spec"));
  result.names = names_of(call);
  const auto& parts = result.arguments.elements;
  const bool is_call =
      parts.size() == 2 && parts[0].kind == ValueTree::Kind::kTuple && parts[1].kind == ValueTree::Kind::kDict;
  if (!is_call) fail_export("forward's arguments are no tuple and dict");
  return result;
}

}  // namespace nnapi_convert
