// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/affine_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/begins_with.h"
#include "lib/base/error.h"
#include "lib/converter/load/export_json.h"
#include "lib/converter/load/tensor_meta.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

constexpr const char* kPrefix = "torch.ops.torchao.";

// Returns the least and the greatest integer of a dtype, by its number in exported programs; nothing for other dtypes.
std::optional<std::pair<int64_t, int64_t>> levels_of(const json& dtype) {
  switch (read_dtype(integer_of(dtype), "torchao")) {
    case c10::kByte:
      return {{0, UINT8_MAX}};
    case c10::kChar:
      return {{INT8_MIN, INT8_MAX}};
    case c10::kShort:
      return {{INT16_MIN, INT16_MAX}};
    case c10::kInt:
      return {{INT32_MIN, INT32_MAX}};
    default:
      return std::nullopt;
  }
}

class AffineNode {
 public:
  AffineNode(json& node, const json& tensor_values)
      : node_(node),
        tensor_values_(tensor_values),
        target_(text_member(node, "target").substr(std::string(kPrefix).size())) {}

  void rename() {
    const std::string name = target_.substr(0, target_.find('.'));
    if (name == "choose_qparams_affine") return set_target("choose_qparams.tensor");
    if (name != "quantize_affine" && name != "dequantize_affine")
      refuse("an operator that has no form in PyTorch 1.13.1");
    if (const json* domain = value_of("zero_point_domain", "as_string"); domain != nullptr && *domain != "INT") {
      refuse(fmt::format("zero_point_domain {}", text_of(*domain)));
    }
    const bool rounds = name == "quantize_affine";
    rename_arguments(rounds ? "quantize" : "dequantize", rounds ? "output_dtype" : "input_dtype");
  }

 private:
  [[noreturn]] void refuse(const std::string& found) const {
    throw ConvertError(
        ExitCode::kNotConvertible,
        fmt::format("torchao.{}: {} found; quantise the model by scales for each tensor, channel, token or "
                    "group of a weight, or export the float model",
                    target_, found));
  }

  const json* argument(const char* name) const {
    for (const json& input : list_of(member(node_, "inputs"))) {
      if (text_member(input, "name") == name) return &member(input, "arg");
    }
    return nullptr;
  }

  // Returns the argument's value; null if there is no such argument, or one of another kind, such as None.
  const json* value_of(const char* name, const char* kind) const {
    const json* found = argument(name);
    if (found == nullptr || tagged(*found).kind != kind) return nullptr;
    return tagged(*found).value;
  }

  void set_target(const std::string& name) { node_["target"] = "torch.ops.quantized_decomposed." + name; }

  // Returns the sizes of blocks; nothing for a size that is computed.
  std::vector<std::optional<int64_t>> blocks() const {
    const json* list = argument("block_size");
    if (list == nullptr) fail_export(fmt::format("torchao.{}: argument block_size is missing", target_));
    std::vector<std::optional<int64_t>> sizes;
    for (const json& each : list_of(*tagged(*list).value)) {
      if (each.is_number_integer()) {
        sizes.emplace_back(integer_of(each));
      } else {
        const TaggedJson size = tagged(each);
        sizes.emplace_back(size.kind == "as_int" ? std::optional(integer_of(*size.value)) : std::nullopt);
      }
    }
    return sizes;
  }

  std::vector<std::optional<int64_t>> sizes_of_input() const {
    const json* input = value_of("input", "as_tensor");
    if (input == nullptr) fail_export(fmt::format("torchao.{}: argument input is missing", target_));
    const std::string name = text_member(*input, "name");
    const json* meta = find_member(tensor_values_, name.c_str());
    if (meta == nullptr) fail_export(fmt::format("torchao.{}: {} has no sizes", target_, name));
    std::vector<std::optional<int64_t>> sizes;
    for (const ExportedSize& size : read_tensor_meta(*meta, name).sizes) sizes.push_back(size.number);
    return sizes;
  }

  // Renames the arguments for the operator of PT2E whose blocks lie in the same way. A block of computed size is taken
  // for all of the axis, as torchao makes no other.
  void rename_arguments(const std::string& verb, const char* dtype_name) {
    const auto sizes = sizes_of_input(), block = blocks();
    if (sizes.size() != block.size()) fail_export(fmt::format("torchao.{}: {} sizes of blocks", target_, block.size()));
    std::vector<size_t> cut;  // the axes that are cut into blocks
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (block[i] && block[i] != sizes[i]) cut.push_back(i);
    }
    const auto is_single = [&](size_t axis) { return block[axis] == 1; };
    json inputs = json::array();
    const auto add = [&](const char* name, const json& value) { inputs.push_back({{"name", name}, {"arg", value}}); };
    add("input", *argument("input"));
    const bool are_singles = std::all_of(cut.begin(), cut.end(), is_single);
    const bool is_token =
        are_singles && cut.size() > 1 && cut.size() + 1 == sizes.size() && cut.back() + 1 < sizes.size();
    const bool is_group = sizes.size() == 2 && !cut.empty() && cut.back() == 1 && block[1].value_or(0) > 1 &&
                          block[0] == 1 && verb == "dequantize";
    const char* several = cut.empty() ? "" : "s";
    add(fmt::format("scale{}", several).c_str(), needed("scale"));
    if (const json* zero_point = argument("zero_point")) add(fmt::format("zero_point{}", several).c_str(), *zero_point);
    add_levels(inputs, dtype_name);
    if (cut.empty()) {
      set_target(verb + "_per_tensor.tensor");
    } else if (are_singles && cut.size() == 1) {
      add("axis", {{"as_int", cut[0]}});
      set_target(verb + "_per_channel.default");
    } else if (is_token) {
      set_target(verb + "_per_token.default");
    } else if (is_group) {
      add("group_size", {{"as_int", *block[1]}});
      set_target(verb + "_per_channel_group.default");
    } else {
      refuse("blocks over parts of several axes");
    }
    if (const json* dtype = verb == "dequantize" ? argument("output_dtype") : nullptr) add("output_dtype", *dtype);
    node_["inputs"] = std::move(inputs);
  }

  const json& needed(const char* name) const {
    const json* found = argument(name);
    if (found == nullptr) fail_export(fmt::format("torchao.{}: argument {} is missing", target_, name));
    return *found;
  }

  void add_levels(json& inputs, const char* dtype_name) const {
    const json* dtype = value_of(dtype_name, "as_scalar_type");
    if (dtype == nullptr) fail_export(fmt::format("torchao.{}: argument {} is missing", target_, dtype_name));
    const auto levels = levels_of(*dtype);
    if (!levels) refuse("another dtype than one of integers");
    const auto level = [&](const char* name, int64_t otherwise) {
      const json* given = value_of(name, "as_int");
      inputs.push_back({{"name", name}, {"arg", {{"as_int", given == nullptr ? otherwise : integer_of(*given)}}}});
    };
    level("quant_min", levels->first);
    level("quant_max", levels->second);
    inputs.push_back({{"name", "dtype"}, {"arg", {{"as_scalar_type", *dtype}}}});
  }

  json& node_;
  const json& tensor_values_;
  std::string target_;
};

}  // namespace

void rename_affine_nodes(json& program) {
  json& graph = program["graph_module"]["graph"];
  if (!graph.is_object() || !graph.contains("nodes") || !graph["nodes"].is_array()) return;  // told where it is read
  const json* tensor_values = find_member(graph, "tensor_values");
  for (json& node : graph["nodes"]) {
    if (!node.is_object() || !begins_with(text_member(node, "target"), kPrefix)) continue;
    const json none = json::object();
    AffineNode(node, tensor_values == nullptr ? none : *tensor_values).rename();
  }
}

}  // namespace nnapi_convert
