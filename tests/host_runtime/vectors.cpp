// SPDX-License-Identifier: BSD-3-Clause
#include "tests/host_runtime/vectors.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "lib/format/operation_table.h"

namespace vectors {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

int level_of(const std::string& version) {
  static const std::map<std::string, int> kLevels = {{"V1_0", 1},    {"V1_1", 2},    {"V1_2", 3},   {"V1_3", 4},
                                                     {"AIDL_V1", 5}, {"AIDL_V2", 6}, {"AIDL_V3", 7}};
  const auto found = kLevels.find(version);
  return found == kLevels.end() ? 0 : found->second;
}

OperandCode operand_code(const std::string& name) {
  if (name == "SUBGRAPH") return OperandCode::MODEL;
  for (int32_t code = 0; code <= static_cast<int32_t>(OperandCode::MODEL); ++code) {
    if (name == nnapi_convert::name_of(static_cast<OperandCode>(code))) return static_cast<OperandCode>(code);
  }
  throw std::runtime_error("unknown operand type " + name);
}

std::vector<double> numbers(const json& values) {
  std::vector<double> result;
  for (const json& value : values) {
    if (value.is_boolean()) {
      result.push_back(value.get<bool>() ? 1 : 0);
    } else if (value.is_string()) {
      result.push_back(std::strtod(value.get<std::string>().c_str(), nullptr));
    } else {
      result.push_back(value.get<double>());
    }
  }
  return result;
}

Operand read_operand(const json& source) {
  Operand operand;
  operand.type = operand_code(source["type"]);
  operand.dims = source["dimensions"].get<std::vector<uint32_t>>();
  operand.scale = source["scale"];
  operand.zero_point = source["zero_point"];
  operand.lifetime = source["lifetime"];
  operand.ignored = source.value("ignored", false);
  if (source.contains("values")) operand.values = numbers(source["values"]);
  if (!source["channel_quant"].is_null()) {
    operand.channel_dim = source["channel_quant"]["channel_dim"];
    operand.channel_scales = source["channel_quant"]["scales"].get<std::vector<float>>();
  }
  return operand;
}

Graph read_graph(const json& source) {
  Graph graph;
  for (const json& operand : source["operands"]) graph.operands.push_back(read_operand(operand));
  for (const json& operation : source["operations"]) {
    const std::string name = operation["type"];
    const auto* info = nnapi_convert::find_operation(name.c_str());
    if (!info) throw std::runtime_error("unknown operation " + name);
    graph.operations.push_back({info->code, operation["inputs"].get<std::vector<uint32_t>>(),
                                operation["outputs"].get<std::vector<uint32_t>>()});
  }
  graph.inputs = source["inputs"].get<std::vector<uint32_t>>();
  graph.outputs = source["outputs"].get<std::vector<uint32_t>>();
  return graph;
}

Case read_case(const std::string& spec, const json& source) {
  Case result;
  result.spec = spec;
  result.name = source["name"];
  result.min_level = level_of(source["min_version"]);
  result.relaxed = source["relaxed"];
  result.expect_failure = source["expect_failure"];
  result.zero_sized = source["zero_sized"];
  result.dynamic_output_shape = source["dynamic_output_shape"];
  result.quant8_coupling = source["quant8_coupling"];
  result.main = read_graph(source);
  if (source.contains("referenced_subgraphs")) {
    for (const json& graph : source["referenced_subgraphs"]) result.referenced.push_back(read_graph(graph));
  }
  for (const auto& [index, values] : source["input_values"].items()) {
    result.main.operands.at(std::stoul(index)).values = numbers(values);
  }
  for (const auto& [index, values] : source["expected_outputs"].items()) {
    result.main.operands.at(std::stoul(index)).expected = numbers(values);
  }
  for (const auto& [type, tolerance] : source["tolerance"].items()) {
    if (type == "multinomial") {
      result.multinomial = tolerance.get<double>();
    } else {
      result.tolerances[operand_code(type)] = {tolerance["atol"], tolerance["rtol"]};
    }
  }
  return result;
}

std::vector<fs::path> json_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Columns: level, spec, case, reason.
std::vector<LeftOut> read_left_out(const fs::path& file) {
  std::vector<LeftOut> result;
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  while (std::getline(stream, line)) {
    std::istringstream columns(line);
    std::string level, spec, name, reason;
    columns >> level >> spec >> name >> reason;
    result.push_back({level + "/" + spec, name, reason});
  }
  return result;
}

}  // namespace

Collection::Collection(const std::string& path) {
  fs::path folder = path;
  if (!fs::exists(folder)) throw std::runtime_error(path + ": no such file or folder");
  if (!fs::is_directory(folder)) {
    folder = unpacked_.emplace().path();
    const std::string command = "tar xJf '" + path + "' -C '" + folder.string() + "'";
    if (std::system(command.c_str()) != 0) throw std::runtime_error(path + ": tar cannot unpack it");
  }
  files_ = json_files(folder);
  if (files_.empty()) throw std::runtime_error(path + ": no cases found");
  left_out_ = read_left_out(folder / "SKIPPED.tsv");
}

std::vector<Case> read_cases(const fs::path& file) {
  std::ifstream stream(file);
  const json content = json::parse(stream);
  const std::string spec = content["feature_level"].get<std::string>() + "/" + content["spec"].get<std::string>();
  std::vector<Case> cases;
  for (const json& source : content["cases"]) cases.push_back(read_case(spec, source));
  return cases;
}

Case with_signed_codes(const Case& original) {
  Case result = original;
  result.name += "_signed";
  result.min_level = original.min_level == 0 ? 0 : std::max(original.min_level, 4);
  for (Operand& operand : result.main.operands) {
    if (operand.type != OperandCode::TENSOR_QUANT8_ASYMM) continue;
    operand.type = OperandCode::TENSOR_QUANT8_ASYMM_SIGNED;
    operand.zero_point -= 128;
    for (double& value : operand.values) value -= 128;
    for (double& value : operand.expected) value -= 128;
  }
  const auto tolerance = result.tolerances.find(OperandCode::TENSOR_QUANT8_ASYMM);
  if (tolerance != result.tolerances.end()) {
    result.tolerances[OperandCode::TENSOR_QUANT8_ASYMM_SIGNED] = tolerance->second;
  }
  return result;
}

Case with_unknown_outputs(const Case& original) {
  Case result = original;
  result.name += "_dynamic_output_shape";
  result.min_level = original.min_level == 0 ? 0 : std::max(original.min_level, 3);
  for (const uint32_t index : result.main.outputs) {
    for (uint32_t& extent : result.main.operands[index].dims) extent = 0;
  }
  return result;
}

}  // namespace vectors
