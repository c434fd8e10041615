// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/quantised_nodes.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "lib/base/begins_with.h"
#include "lib/converter/load/export_json.h"
#include "lib/converter/load/quantised_weights.h"
#include "lib/converter/load/tensor_meta.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;
using torch::jit::Graph;
using torch::jit::NamedValue;
using torch::jit::Value;

constexpr const char* kPrefix = "quantized_decomposed.";
constexpr int64_t kHighestByte = 255;

// A scale or a zero point of a node: a number, a constant tensor or a value of the graph.
struct Parameter {
  std::optional<at::Tensor> known;
  std::optional<double> number;
  Value* computed = nullptr;
  bool is_of_call = false;
};

class QuantisedNode {
 public:
  QuantisedNode(Graph& graph, const ExportNode& node, ExportScope& scope)
      : graph_(graph), node_(node), scope_(scope), name_(node.target.substr(std::string(kPrefix).size())) {}

  void add() {
    if (begins_with(name_, "choose_qparams") || begins_with(name_, "_choose_qparams")) return add_range();
    const bool is_known = begins_with(name_, "quantize_per_tensor") || begins_with(name_, "quantize_per_channel.") ||
                          begins_with(name_, "quantize_per_token") || begins_with(name_, "dequantize_per_tensor") ||
                          begins_with(name_, "dequantize_per_channel") || begins_with(name_, "dequantize_per_token");
    if (!is_known) {
      refuse_node(
          node_,
          "an operator of quantised programs that has no form in PyTorch 1.13.1; quantise the model without it, "
          "or export the float model");
    }
    input_ = text_member(*tagged_as("input", "as_tensor"), "name");
    const bool is_one = name_.find("per_tensor") != std::string::npos;
    scale_ = parameter(is_one ? "scale" : "scales");
    zero_point_ = parameter(is_one ? "zero_point" : "zero_points");
    if (begins_with(name_, "dequantize")) return add_floats();
    add_integers();
  }

 private:
  const json* find(const char* name) const {
    for (const json& input : list_of(member(node_.json, "inputs"))) {
      if (text_member(input, "name") == name) return &member(input, "arg");
    }
    return nullptr;
  }

  const json* tagged_as(const char* name, const char* kind) const {
    const json* argument = find(name);
    if (argument == nullptr || tagged(*argument).kind != kind) {
      fail_export(fmt::format("{}{}: argument {} is missing, or of another kind", place_of(node_), node_.target, name));
    }
    return tagged(*argument).value;
  }

  int64_t integer(const char* name) const { return integer_of(*tagged_as(name, "as_int")); }

  c10::ScalarType dtype(const char* name) const {
    return read_dtype(integer_of(*tagged_as(name, "as_scalar_type")), node_.target);
  }

  // Returns the scale or zero point of this name; zero if the node has none.
  Parameter parameter(const char* name) const {
    const json* argument = find(name);
    Parameter result;
    if (argument == nullptr || tagged(*argument).kind == "as_none") {
      result.number = 0;
    } else if (tagged(*argument).kind == "as_float" || tagged(*argument).kind == "as_int") {
      result.number = real_of(*tagged(*argument).value);
    } else {
      const std::string value = text_member(*tagged_as(name, "as_tensor"), "name");
      const auto weight = scope_.quantised.weights.find(value);
      result.is_of_call = scope_.quantised.of_call.count(value) != 0;
      if (weight != scope_.quantised.weights.end()) result.known = weight->second.reshape({-1});
      if (!result.is_of_call) result.computed = scope_.at(value);
    }
    const bool is_number = !result.number || std::isfinite(*result.number);
    if (!is_number) fail_export(fmt::format("{}{}: a {} that is no number", place_of(node_), node_.target, name));
    if (result.number) result.known = at::full({1}, *result.number, at::TensorOptions(at::kDouble));
    return result;
  }

  bool is_per_channel() const { return name_.find("per_channel.") != std::string::npos; }

  // Returns how the node rounds; nothing where a scale is computed.
  std::optional<Rounding> rounding() const {
    if (!scale_.known || !zero_point_.known) return std::nullopt;
    Rounding result{scale_.known->to(at::kDouble), zero_point_.known->to(at::kLong)};
    const bool is_shared = result.zero_points.numel() == 1 && result.scales.numel() > 1;
    if (is_shared) result.zero_points = result.zero_points.expand({result.scales.numel()}).contiguous();
    if (is_per_channel()) result.axis = integer("axis");
    result.min = integer("quant_min");
    result.max = integer("quant_max");
    result.dtype = dtype("dtype");
    return result;
  }

  Value* insert(const char* name, const std::vector<NamedValue>& arguments) {
    return graph_.insert(c10::Symbol::aten(name), arguments);
  }

  void give(Value* value) { name_results(node_, {value}, scope_); }

  std::string result() const {
    const json& outputs = list_of(member(node_.json, "outputs"));
    if (outputs.size() != 1) fail_export(fmt::format("{}{}: one result needed", place_of(node_), node_.target));
    return text_member(*tagged(outputs[0]).value, "name");
  }

  // Notes the scale and the zero point that each call computes from its own numbers.
  void add_range() {
    for (const json& output : list_of(member(node_.json, "outputs"))) {
      if (tagged(output).kind == "as_tensor") {
        scope_.quantised.of_call.insert(text_member(*tagged(output).value, "name"));
      }
    }
  }

  void add_integers() {
    if (scale_.is_of_call) {
      scope_.quantised.before_call.emplace(result(), scope_.at(input_));
      return;
    }
    const auto known = rounding();
    const auto weight = scope_.quantised.weights.find(input_);
    if (known && weight != scope_.quantised.weights.end() && fits(*known, weight->second)) {
      const at::Tensor integers = rounded(weight->second, *known);
      scope_.quantised.weights.emplace(result(), integers);
      return give(graph_.insertConstant(integers));
    }
    if (known && add_bytes(*known)) return;
    give(computed_integers());
  }

  // Adds rounding to quint8, whose integers are those of int8 plus 128. Returns false where quint8 can't hold the
  // integers.
  bool add_bytes(const Rounding& known) {
    const bool is_signed = known.dtype == at::kChar;
    if (known.axis || (!is_signed && known.dtype != at::kByte) || !fits(known, at::Tensor(at::zeros({})))) return false;
    const double scale = known.scales.item<double>();
    const int64_t zero_point = known.zero_points.item<int64_t>(), shift = is_signed ? 128 : 0;
    const int64_t lowest = known.min + shift, highest = known.max + shift, zero = zero_point + shift;
    if (lowest < 0 || highest > kHighestByte || lowest > highest || zero < 0 || zero > kHighestByte) return false;
    Value* input = scope_.at(input_);
    if (lowest > 0 || highest < kHighestByte) {
      input = insert("clamp", {input, static_cast<double>(known.min - zero_point) * scale,
                               static_cast<double>(known.max - zero_point) * scale});
    }
    Value* bytes = insert("quantize_per_tensor", {input, scale, zero, static_cast<int64_t>(at::kQUInt8)});
    scope_.quantised.bytes.emplace(result(), bytes);
    Value* integers = insert("int_repr", {bytes});
    if (is_signed) {
      Value* wide = insert("sub", {insert("to", {integers, static_cast<int64_t>(at::kShort)}), shift});
      integers = insert("to", {wide, static_cast<int64_t>(at::kChar)});
    }
    give(integers);
    return true;
  }

  NamedValue operand(const Parameter& parameter) const {
    return parameter.number ? NamedValue(*parameter.number) : NamedValue(parameter.computed);
  }

  // Swaps the axis of channels with the last one, so that one number for each channel is in its place.
  Value* turned(Value* value) {
    return is_per_channel() ? insert("transpose", {value, integer("axis"), int64_t{-1}}) : value;
  }

  Value* computed_integers() {
    Value* input = turned(scope_.at(input_));
    Value* quotient = scale_.number ? insert("mul", {input, 1.0 / *scale_.number})
                                    : insert("mul", {input, insert("reciprocal", {scale_.computed})});
    Value* places = insert("round", {quotient});
    Value* shifted = insert("add", {places, operand(zero_point_)});
    Value* limited = insert("clamp", {shifted, integer("quant_min"), integer("quant_max")});
    Value* whole = turned(limited);
    if (dtype("dtype") != at::kInt) scope_.quantised.whole.emplace(result(), whole);  // floats hold integers of 16 bits
    return insert("to", {whole, static_cast<int64_t>(dtype("dtype"))});
  }

  Value* computed_floats() {
    const auto whole = scope_.quantised.whole.find(input_);
    Value* input = whole != scope_.quantised.whole.end()
                       ? turned(whole->second)
                       : insert("to", {turned(scope_.at(input_)), static_cast<int64_t>(at::kFloat)});
    return turned(insert("mul", {insert("sub", {input, operand(zero_point_)}), operand(scale_)}));
  }

  // Returns the constant that the integers stand for; nothing where they are computed.
  std::optional<at::Tensor> weight() const {
    const auto found = scope_.quantised.weights.find(input_);
    if (found == scope_.quantised.weights.end()) return std::nullopt;
    const at::Tensor& integers = found->second;
    auto known = rounding();
    if (!known) return std::nullopt;
    if (!begins_with(name_, "dequantize_per_channel_group")) {
      return fits(*known, integers) ? std::optional(weight_of(integers, *known)) : std::nullopt;
    }
    const int64_t size = integer("group_size");
    const bool is_whole = size > 0 && integers.dim() == 2 && integers.size(1) % size == 0 &&
                          known->scales.numel() == integers.numel() / size &&
                          known->zero_points.numel() == known->scales.numel();
    if (!is_whole) fail_export(fmt::format("{}{}: groups of {} found", place_of(node_), node_.target, size));
    return weight_of_groups(integers, *known, size);
  }

  // Returns the quint8 tensor whose integers the node reads; null if there is none, or if its scale is another.
  Value* bytes() const {
    const auto found = scope_.quantised.bytes.find(input_);
    const auto known = found == scope_.quantised.bytes.end() ? std::nullopt : rounding();
    if (!known || known->axis || known->scales.numel() != 1) return nullptr;
    const torch::jit::Node* made = found->second->node();
    const int64_t shift = known->dtype == at::kChar ? 128 : 0;
    const bool is_same = *torch::jit::toIValue(made->input(1)) == known->scales.item<double>() &&
                         *torch::jit::toIValue(made->input(2)) == known->zero_points.item<int64_t>() + shift;
    return is_same ? found->second : nullptr;
  }

  Value* floats() {
    const auto before = scope_.quantised.before_call.find(input_);
    if (before != scope_.quantised.before_call.end()) return before->second;
    if (const auto constant = weight()) {
      Value* value = graph_.insertConstant(*constant);
      return constant->is_quantized() ? insert("dequantize", {value}) : value;
    }
    if (begins_with(name_, "dequantize_per_channel_group")) {
      refuse_node(node_, "weights in groups that are computed found, constants needed; export the float model");
    }
    if (Value* quantised = bytes()) return insert("dequantize", {quantised});
    return computed_floats();
  }

  void add_floats() {
    Value* value = floats();
    for (const char* name : {"out_dtype", "output_dtype"}) {
      const json* argument = find(name);
      if (argument == nullptr || tagged(*argument).kind == "as_none" || dtype(name) == at::kFloat) continue;
      value = insert("to", {value, static_cast<int64_t>(dtype(name))});
    }
    give(value);
  }

  Graph& graph_;
  const ExportNode& node_;
  ExportScope& scope_;
  std::string name_;
  std::string input_;
  Parameter scale_, zero_point_;
};

}  // namespace

bool add_quantised_node(Graph& graph, const ExportNode& node, ExportScope& scope) {
  if (!begins_with(node.target, kPrefix)) return false;
  QuantisedNode(graph, node, scope).add();
  return true;
}

}  // namespace nnapi_convert
