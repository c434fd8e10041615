// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "lib/base/error.h"
#include "lib/base/json_problem.h"
#include "lib/base/json_text.h"
#include "lib/format/json_nesting.h"
#include "lib/nnapi/validate.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

json quantization_json(const Quantization& quantization) {
  if (quantization.scale == 0) return nullptr;
  return {{"scale", quantization.scale}, {"zero_point", quantization.zero_point}};
}

Quantization quantization_of(const json& value) {
  if (value.is_null()) return {};
  return {value.at("scale").get<double>(), value.at("zero_point").get<int64_t>()};
}

// Writes a size that follows from others as lists: ["*", 8, ["//", ["size", 0, 2], 8]].
class SizeJson : public DimVisitor {
 public:
  static json of(const Dim& dim) {
    SizeJson writer;
    return writer.parts_.at(dim.visit(writer));
  }

 private:
  size_t number(int64_t value) override { return add(value); }
  size_t size(int input, int axis) override { return add(json::array({"size", input, axis})); }
  size_t sum(size_t a, size_t b) override { return add(json::array({"+", parts_[a], parts_[b]})); }
  size_t product(size_t a, size_t b) override { return add(json::array({"*", parts_[a], parts_[b]})); }
  size_t floor_div(size_t a, size_t b) override { return add(json::array({"//", parts_[a], parts_[b]})); }

  size_t add(json part) {
    parts_.push_back(std::move(part));
    return parts_.size() - 1;
  }

  std::vector<json> parts_;
};

[[noreturn]] void fail_at_size(const json& value) {
  throw ConvertError(ExitCode::kBadFile, fmt::format("malformed {}: a size {} found", kMetadataFile, value.dump()));
}

// Reads a size. A size that follows from others has to be linear in them and in their quotients: a file of many
// products would grow without bounds, and their numbers would leave int64. `may_multiply` is false within a product.
Dim size_of(const json& value, bool may_multiply) {
  constexpr int64_t kMost = int64_t{1} << 20;
  if (!value.is_array()) {
    const auto number = value.get<int64_t>();
    if (number > kMost || number < -kMost) fail_at_size(value);
    return number;
  }
  const auto kind = value.at(0).get<std::string>();
  if (kind == "size") return Dim::of_input(value.at(1).get<int>(), value.at(2).get<int>());
  const bool is_product = kind == "*";
  if (is_product && !may_multiply) fail_at_size(value);
  const Dim first = size_of(value.at(1), may_multiply && !is_product);
  const Dim second = size_of(value.at(2), may_multiply && !is_product);
  if (kind == "+") return first + second;
  if (is_product && (first.is_fixed() || second.is_fixed())) return first * second;
  if (kind == "//" && second.is_fixed() && second.value() > 0) return first.floor_div(second.value());
  fail_at_size(value);
}

// Writes sizes; an open size that each call chooses is null.
json shape_json(const Dims& dims, int input) {
  json shape = json::array();
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const bool is_own = dims[axis] == Dim::of_input(input, static_cast<int>(axis));
    shape.push_back(is_own ? json(nullptr) : SizeJson::of(dims[axis]));
  }
  return shape;
}

Dims shape_of(const json& value, int input) {
  Dims dims;
  for (size_t axis = 0; axis < value.size(); ++axis) {
    dims.push_back(value[axis].is_null()    ? Dim::of_input(input, static_cast<int>(axis))
                   : value[axis].is_array() ? size_of(value[axis], true)
                                            : Dim(value[axis].get<int64_t>()));
  }
  return dims;
}

constexpr const char* kConditionKinds[] = {"==", ">=", "<="};  // by SizeCondition::Kind

SizeCondition condition_of(const json& value) {
  const auto kind = value.at("is").get<std::string>();
  const auto found = std::find(std::begin(kConditionKinds), std::end(kConditionKinds), kind);
  if (found == std::end(kConditionKinds)) fail_at_size(value);
  return {static_cast<SizeCondition::Kind>(found - std::begin(kConditionKinds)), size_of(value.at("left"), true),
          size_of(value.at("right"), true)};
}

// Writes conditions; leaves out those that a reader would refuse, such as products of sizes.
json conditions_json(const SizeConditions& conditions) {
  json result = json::array();
  for (const SizeCondition& condition : conditions) {
    const json value = {{"left", SizeJson::of(condition.left)},
                        {"is", kConditionKinds[static_cast<size_t>(condition.kind)]},
                        {"right", SizeJson::of(condition.right)}};
    try {
      (void)condition_of(value);
      result.push_back(value);
    } catch (const ConvertError&) {  // nothing is lost but a hint to verify, which may then try sizes in vain
    }
  }
  return result;
}

// Throws ConvertError if a size or a condition refers to a size that no input has.
void check_sizes(const std::vector<MetadataInput>& inputs, const SizeConditions& conditions) {
  const auto size_of_input = [&](int input, int axis) -> int64_t {
    const bool is_there = input >= 0 && static_cast<size_t>(input) < inputs.size() && axis >= 0 &&
                          static_cast<size_t>(axis) < inputs[static_cast<size_t>(input)].type.rank();
    if (!is_there) fail_at_size(json::array({"size", input, axis}));
    return 1;
  };
  for (const MetadataInput& input : inputs) {
    for (const Dim& dim : input.type.dims) (void)dim.evaluate(size_of_input);
  }
  for (const SizeCondition& condition : conditions) (void)condition.holds(size_of_input);
}

at::ScalarType dtype_of(const json& value) {
  const auto name = value.get<std::string>();
  for (const at::ScalarType dtype :
       {at::kFloat, at::kQUInt8, at::kQInt8, at::kInt, at::kBool, at::kLong, at::kDouble, at::kHalf, at::kBFloat16,
        at::kByte, at::kChar, at::kShort, at::kComplexFloat, at::kComplexDouble}) {
    if (name == dtype_name(dtype)) return dtype;
  }
  throw ConvertError(ExitCode::kBadFile, "unknown dtype " + name);
}

json type_json(const TensorType& type) {
  return {{"dtype", dtype_name(type.dtype)}, {"quantization", quantization_json(type.quantization)}};
}

TensorType type_of(const json& value) {
  return {dtype_of(value.at("dtype")), {}, quantization_of(value.at("quantization"))};
}

json variant_json(const MetadataVariant& variant) {
  json entry = {{"name", variant.name}, {"quant", variant.quant}, {"feature_level", variant.feature_level}};
  entry["sizes"] = json::array();
  for (const Dims& dims : variant.sizes)
    entry["sizes"].push_back(shape_json(dims, static_cast<int>(entry["sizes"].size())));
  if (!variant.options.empty()) entry["options"] = json::parse(variant.options);
  return entry;
}

MetadataVariant variant_of(const json& entry) {
  MetadataVariant variant{entry.at("name"), entry.at("quant"), entry.at("feature_level"), {}, {}};
  for (const json& sizes : entry.at("sizes")) {
    variant.sizes.push_back(shape_of(sizes, static_cast<int>(variant.sizes.size())));
  }
  if (entry.contains("options")) variant.options = entry["options"].dump();
  return variant;
}

}  // namespace

Metadata make_metadata(const nnapi::Model& model, const ModuleInterface& interface, const std::string& quant) {
  Metadata metadata{quant, nnapi::required_feature_level(model)};
  metadata.conditions = interface.conditions;
  for (const InterfaceInput& input : interface.inputs)
    metadata.inputs.push_back({input.name, input.type, input.original, false});
  for (const nnapi::Boundary& boundary : model.inputs) metadata.inputs[boundary.argument].nhwc = boundary.nhwc;
  for (const InterfaceOutput& output : interface.outputs) metadata.outputs.push_back(output.quantization);
  return metadata;
}

namespace {

json json_of(const Metadata& metadata) {
  json root = {{"quant", metadata.quant}, {"feature_level", metadata.feature_level}};
  if (!metadata.method.empty()) root["method"] = metadata.method;
  root["inputs"] = json::array();
  for (const MetadataInput& input : metadata.inputs) {
    json entry = type_json(input.type);
    entry["name"] = input.name;
    entry["shape"] = shape_json(input.type.dims, static_cast<int>(root["inputs"].size()));
    entry["original"] = type_json(input.original);
    entry["nhwc"] = input.nhwc;
    root["inputs"].push_back(entry);
  }
  const json conditions = conditions_json(metadata.conditions);
  if (!conditions.empty()) root["conditions"] = conditions;
  root["outputs"] = json::array();
  for (const Quantization& output : metadata.outputs)
    root["outputs"].push_back({{"quantization", quantization_json(output)}});
  if (!metadata.options.empty()) root["options"] = json::parse(metadata.options);
  for (const MetadataVariant& variant : metadata.variants) root["package"].push_back(variant_json(variant));
  return root;
}

Metadata metadata_of(const json& root) {
  Metadata metadata{root.at("quant").get<std::string>(), root.at("feature_level").get<int>()};
  metadata.method = root.value("method", "");
  for (const json& entry : root.at("inputs")) {
    MetadataInput input{entry.at("name").get<std::string>(), type_of(entry), type_of(entry.at("original")),
                        entry.at("nhwc").get<bool>()};
    input.type.dims = shape_of(entry.at("shape"), static_cast<int>(metadata.inputs.size()));
    metadata.inputs.push_back(std::move(input));
  }
  for (const json& condition : root.value("conditions", json::array()))
    metadata.conditions.push_back(condition_of(condition));
  check_sizes(metadata.inputs, metadata.conditions);
  for (const json& entry : root.at("outputs")) metadata.outputs.push_back(quantization_of(entry.at("quantization")));
  if (root.contains("options")) metadata.options = root["options"].dump();
  for (const json& entry : root.value("package", json::array())) metadata.variants.push_back(variant_of(entry));
  return metadata;
}

[[noreturn]] void fail_malformed(const std::string& problem) {
  throw ConvertError(ExitCode::kBadFile, fmt::format("malformed {}: {}", kMetadataFile, problem));
}

}  // namespace

std::string to_json(const Metadata& metadata) {
  json root = json_of(metadata);
  root["version"] = kMetadataVersion;
  return json_text(root);
}

std::string to_json(const std::vector<Metadata>& methods) {
  json root = {{"version", kMetadataVersion}, {"methods", json::array()}};
  for (const Metadata& method : methods) root["methods"].push_back(json_of(method));
  return json_text(root);
}

std::vector<Metadata> parse_methods_metadata(const std::string& text) {
  if (is_nested_too_deep(text)) {
    fail_malformed(fmt::format("lists or objects more than {} deep found", kMostNestedJson));
  }
  try {
    const json root = json::parse(text);
    if (root.at("version") != kMetadataVersion) {
      throw ConvertError(ExitCode::kBadFile, fmt::format("version {} of {} found, {} needed", root.at("version").dump(),
                                                         kMetadataFile, kMetadataVersion));
    }
    if (!root.contains("methods")) return {metadata_of(root)};
    std::vector<Metadata> methods;
    for (const json& each : root["methods"]) {
      methods.push_back(metadata_of(each));
      if (methods.back().method.empty()) fail_malformed("a method without a name found");
    }
    if (methods.empty()) fail_malformed("no methods found");
    return methods;
  } catch (const json::exception& error) {
    fail_malformed(json_problem(error));
  }
}

Metadata parse_metadata(const std::string& text) {
  const std::vector<Metadata> methods = parse_methods_metadata(text);
  if (methods.size() != 1 || !methods[0].method.empty()) fail_malformed("several methods found, one needed");
  return methods[0];
}

}  // namespace nnapi_convert
