// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/older_schema.h"

#include <fmt/format.h>

#include <string>

#include "lib/base/error.h"
#include "lib/converter/load/export_json.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

// The schema's major version: a larger one is a breaking change. Minor ones only add what may be left out.
constexpr int64_t kMajor = 8;
constexpr int64_t kSpecs = 2;  // the first version whose signature lists inputs and outputs

struct Schema {
  int64_t major = 0;
  std::string text;
};

Schema schema_of(const json& program) {
  const json& version = member(program, "schema_version");
  if (version.is_number_integer()) return {integer_of(version), fmt::format("{}", integer_of(version))};
  const int64_t major = integer_of(member(version, "major"));
  return {major, fmt::format("{}.{}", major, integer_of(member(version, "minor")))};
}

const char* releases_of(int64_t major) {
  if (major <= 1) return "2.1";
  return major == kSpecs ? "2.2" : "2.3 to 2.5";
}

const json& needed(const json& object, const char* key, int64_t major) {
  const json* found = find_member(object, key);
  if (found != nullptr) return *found;
  throw ConvertError(ExitCode::kNotConvertible,
                     fmt::format("a program of PyTorch {} (schema version {}) without \"{}\" found; export the model "
                                 "again with PyTorch 2.6 or later",
                                 releases_of(major), major, key));
}

std::string name_in(const json& argument) {
  const TaggedJson value = tagged(argument);
  const json* name = value.value->is_object() ? find_member(*value.value, "name") : nullptr;
  return name == nullptr ? "" : text_of(*name);
}

// Adds the spec of a weight; false if the argument is none. `names` has the weights by the names of their values.
bool add_weight(json& specs, const json& argument, const json& names, const char* kind, const char* key) {
  const std::string name = name_in(argument);
  const json* weight = name.empty() ? nullptr : find_member(names, name.c_str());
  if (weight == nullptr) return false;
  specs.push_back({{kind, {{"arg", {{"name", name}}}, {key, *weight}}}});
  return true;
}

json input_specs(const json& graph, const json& signature) {
  const json& parameters = needed(signature, "inputs_to_parameters", 1);
  const json& buffers = needed(signature, "inputs_to_buffers", 1);
  json specs = json::array();
  for (const json& input : list_of(member(graph, "inputs"))) {
    const bool is_weight = add_weight(specs, input, parameters, "parameter", "parameter_name") ||
                           add_weight(specs, input, buffers, "buffer", "buffer_name");
    if (!is_weight) specs.push_back({{"user_input", {{"arg", input}}}});
  }
  return specs;
}

// Returns the specs of the outputs: a program gives the new values of buffers first.
json output_specs(const json& graph, const json& signature) {
  const json& changed = needed(signature, "buffers_to_mutate", 1);
  json specs = json::array();
  for (const json& output : list_of(member(graph, "outputs"))) {
    const bool is_change = specs.size() < object_of(changed).size();
    if (is_change && add_weight(specs, output, changed, "buffer_mutation", "buffer_name")) continue;
    specs.push_back({{"user_output", {{"arg", output}}}});
  }
  return specs;
}

// Rewrites the signature of PyTorch 2.1, which has a dictionary for each kind of input and output.
void modernise_signature(json& graph_module) {
  json& signature = graph_module["signature"];
  if (find_member(signature, "backward_signature") != nullptr) {
    throw ConvertError(ExitCode::kNotConvertible, "the program has a backward pass; export the model for inference");
  }
  const json& graph = member(graph_module, "graph");
  signature = {{"input_specs", input_specs(graph, signature)}, {"output_specs", output_specs(graph, signature)}};
}

bool is_graph(const json& value) {
  return value.is_object() && value.contains("nodes") && value.contains("tensor_values");
}

// Wraps a number or a name that later versions have in an object.
void wrap(json& object, const char* key, const char* inner) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_object() || found->is_null()) return;
  *found = json{{inner, *found}};
}

// Rewrites the values of all graphs: graphs lie within arguments, too.
void modernise_values(json& value) {
  if (!value.is_structured()) return;
  if (is_graph(value) && value["tensor_values"].is_object()) {
    for (auto& [name, tensor] : value["tensor_values"].items()) {
      if (tensor.is_object() && tensor.contains("meta")) tensor = json(tensor["meta"]);
    }
  }
  if (value.is_object()) {
    wrap(value, "storage_offset", "as_int");
    if (value.contains("expr_str")) wrap(value, "hint", "as_int");
    const auto tensors = value.find("as_optional_tensors");
    if (tensors != value.end() && tensors->is_array()) {
      for (json& each : *tensors) {
        if (each.is_object()) wrap(each, "as_tensor", "name");
      }
    }
  }
  for (json& each : value) modernise_values(each);
}

}  // namespace

void modernise_program(json& program) {
  const Schema schema = schema_of(program);
  if (schema.major < 1 || schema.major > kMajor) {
    throw ConvertError(ExitCode::kNotConvertible,
                       fmt::format("schema version {} found, 1 to {}.x needed; export the model again with another "
                                   "PyTorch, 2.6 to 2.14",
                                   schema.text, kMajor));
  }
  if (schema.major == kMajor) return;
  json& graph_module = program["graph_module"];
  const json& signature = needed(graph_module, "signature", schema.major);
  needed(member(graph_module, "graph"), "nodes", schema.major);
  needed(graph_module, "module_call_graph", schema.major);
  if (schema.major < kSpecs) {
    modernise_signature(graph_module);
  } else {
    needed(signature, "input_specs", schema.major);
  }
  modernise_values(graph_module);
}

}  // namespace nnapi_convert
