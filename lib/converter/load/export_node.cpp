// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/export_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "lib/base/error.h"
#include "lib/converter/load/export_json.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;
using torch::jit::Value;

// True if the name can be a value's in TorchScript.
bool is_identifier(const std::string& name) {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(), [](char letter) {
           return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
         });
}

void name_result(const ExportNode& node, const json& output, Value* value, ExportScope& scope) {
  const TaggedJson result = tagged(output);
  if (result.kind == "as_none") return;
  const bool is_tensor = result.kind == "as_tensor";
  if (!is_tensor && result.kind.rfind("as_sym_", 0) != 0) {
    refuse_node(node, fmt::format("a result of kind {} found, which PyTorch 1.13.1 lacks", result.kind));
  }
  scope.add(text_member(*result.value, is_tensor ? "name" : "as_name"), value);
}

}  // namespace

Value* ExportScope::at(const std::string& name) const {
  const auto found = values.find(name);
  if (quantised.of_call.count(name) + quantised.before_call.count(name) != 0) {
    throw ConvertError(ExitCode::kNotConvertible,
                       fmt::format("value {} belongs to dynamic quantisation, and something else than quantize and "
                                   "dequantize reads it; export the float model",
                                   name));
  }
  if (found == values.end()) fail_export(fmt::format("value {} is read before something makes it", name));
  return found->second;
}

void ExportScope::add(const std::string& name, Value* value) {
  if (!values.emplace(name, value).second) fail_export(fmt::format("two values named {} found", name));
  if (is_identifier(name) && !value->hasDebugName()) value->setDebugName(name);
}

std::string place_of(const ExportNode& node) {
  return node.where.empty() ? "" : node.where + ": ";
}

void refuse_node(const ExportNode& node, const std::string& why) {
  throw ConvertError(ExitCode::kNotConvertible, fmt::format("{}{}: {}", place_of(node), node.target, why));
}

void name_results(const ExportNode& node, const TorchValues& results, ExportScope& scope) {
  const json& outputs = list_of(member(node.json, "outputs"));
  std::vector<const json*> names;
  std::vector<json> of_list;
  if (outputs.size() == 1 && tagged(outputs[0]).kind == "as_tensors") {
    for (const json& name : list_of(*tagged(outputs[0]).value)) of_list.push_back({{"as_tensor", name}});
    for (const json& each : of_list) names.push_back(&each);
  } else {
    for (const json& output : outputs) names.push_back(&output);
  }
  if (names.size() > results.size()) {
    fail_export(
        fmt::format("{}{}: {} results named, it has {}", place_of(node), node.target, names.size(), results.size()));
  }
  for (size_t i = 0; i < names.size(); ++i) name_result(node, *names[i], results[i], scope);
}

}  // namespace nnapi_convert
