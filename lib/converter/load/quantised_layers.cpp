// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/quantised_layers.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "lib/converter/load/quantised_weights.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Module;
using torch::jit::Node;
using torch::jit::Value;

constexpr const char* kLayerAttribute = "quantised_weights_";

std::optional<c10::IValue> constant_argument(const Node& node, const char* name) {
  const auto index = node.schema().argumentIndexWithName(name);
  if (!index) return std::nullopt;
  const auto value = torch::jit::toIValue(node.input(static_cast<size_t>(*index)));
  return value ? std::optional<c10::IValue>(*value) : std::nullopt;
}

Value* argument_value(const Node& node, const char* name) {
  const auto index = node.schema().argumentIndexWithName(name);
  return index ? node.input(static_cast<size_t>(*index)) : nullptr;
}

// Returns the attribute of `module` that `value` reads; nothing if it is something else.
std::optional<c10::IValue> attribute_of(const Value& value, const Module& module, const Value& self) {
  if (&value == &self) return module._ivalue();
  const Node* node = value.node();
  if (node->kind() != c10::prim::GetAttr) return std::nullopt;
  const auto object = attribute_of(*node->input(), module, self);
  if (!object || !object->isObject()) return std::nullopt;
  return object->toObject()->getAttr(node->s(c10::attr::name));
}

// Returns the tensor of a bias, an undefined one for None; nothing where it is computed.
std::optional<at::Tensor> bias_of(const Value& value, const Module& module, const Value& self) {
  const auto constant = torch::jit::toIValue(&value);
  const auto found = constant ? std::optional<c10::IValue>(*constant) : attribute_of(value, module, self);
  if (!found) return std::nullopt;
  if (found->isNone()) return at::Tensor();
  const bool is_of_others = !constant && value.uses().size() != 1;  // others may change it
  if (!found->isTensor() || is_of_others) return std::nullopt;
  return found->toTensor().detach().to(at::kFloat).contiguous();
}

// Returns the 8-bit weight that `value` is the dequantize of, transposed if `is_turned`; nothing for other values.
std::optional<at::Tensor> weight_before(const Value& value, bool is_turned) {
  if (value.node()->kind() != c10::Symbol::aten("dequantize")) return std::nullopt;
  const auto constant = torch::jit::toIValue(value.node()->input(0));
  if (!constant || !constant->isTensor() || constant->toTensor().scalar_type() != at::kQInt8) return std::nullopt;
  const at::Tensor weight = constant->toTensor();
  if (!is_turned) return weight;
  if (weight.dim() != 2) return std::nullopt;
  const at::Tensor integers = weight.int_repr().t().contiguous();
  if (weight.qscheme() == at::kPerTensorAffine) {
    return at::_make_per_tensor_quantized_tensor(integers, weight.q_scale(), weight.q_zero_point());
  }
  return at::_make_per_channel_quantized_tensor(integers, weight.q_per_channel_scales(),
                                                weight.q_per_channel_zero_points(), 1 - weight.q_per_channel_axis());
}

struct Layer {
  const char* name;     // of the quantised operator
  const char* prepack;  // of the operator that packs its weights
  Value* input;
  at::Tensor weight;
  Value* bias;
  std::vector<c10::IValue> arguments;  // arguments of the prepack after the bias
  int64_t output_axis = 0;             // the weight's axis of output channels
  bool has_relu_form = true;
};

// Returns stride, padding, dilation and groups, for the transposed form also output_padding; nothing if one is
// computed.
std::optional<std::vector<c10::IValue>> convolution_arguments(const Node& node, bool is_transposed) {
  std::vector<c10::IValue> result;
  for (const char* name : {"stride", "padding", "output_padding", "dilation", "groups"}) {
    if (!is_transposed && std::string(name) == "output_padding") continue;
    auto value = constant_argument(node, name);
    if (!value || value->isString()) return std::nullopt;
    result.push_back(*value);
  }
  return result;
}

std::optional<Layer> convolution(const Node& node, Value* input_value) {
  const std::string kind = node.kind().toUnqualString();
  const auto flag = constant_argument(node, "transposed");
  const bool is_transposed = (flag && flag->isBool() && flag->toBool()) || kind.rfind("conv_transpose", 0) == 0;
  const auto weight = weight_before(*argument_value(node, "weight"), false);
  const auto arguments = convolution_arguments(node, is_transposed);
  if (!weight || !arguments || weight->dim() < 3 || weight->dim() > 4) return std::nullopt;
  const bool is_1d = weight->dim() == 3;
  if (is_transposed) {
    return Layer{is_1d ? "conv_transpose1d" : "conv_transpose2d",
                 is_1d ? "conv_transpose1d_prepack" : "conv_transpose2d_prepack",
                 input_value,
                 *weight,
                 argument_value(node, "bias"),
                 *arguments,
                 1,
                 false};
  }
  return Layer{is_1d ? "conv1d" : "conv2d",
               is_1d ? "conv1d_prepack" : "conv2d_prepack",
               input_value,
               *weight,
               argument_value(node, "bias"),
               *arguments};
}

// Returns the value that `value` is the transpose of, by its two axes; null if it is none.
Value* before_transposition(Value* value) {
  const Node* node = value->node();
  const std::string kind = node->kind().toQualString();
  if (kind == "aten::t") return node->input(0);
  if (kind == "aten::permute") {
    const auto axes = constant_argument(*node, "dims");
    return axes && axes->isIntList() && axes->toIntVector() == std::vector<int64_t>{1, 0} ? node->input(0) : nullptr;
  }
  if (kind != "aten::transpose") return nullptr;
  const auto first = constant_argument(*node, "dim0"), second = constant_argument(*node, "dim1");
  return first && second && first->isInt() && first->toInt() + second->toInt() == 1 ? node->input(0) : nullptr;
}

std::optional<Layer> linear(Value* input, Value* weight_value, Value* bias, bool is_turned) {
  if (is_turned) {
    if (Value* before = before_transposition(weight_value)) {
      weight_value = before;
      is_turned = false;
    }
  }
  const auto weight = weight_before(*weight_value, is_turned);
  if (!weight || weight->dim() != 2) return std::nullopt;
  return Layer{"linear", "linear_prepack", input, *weight, bias, {}};
}

bool is_one(const std::optional<c10::IValue>& number) {
  return number && number->isScalar() && number->toScalar().equal(1);
}

std::optional<Layer> layer_of(Node* node, Graph& graph) {
  const std::string kind = node->kind().toQualString();
  if (kind == "aten::linear") return linear(node->input(0), node->input(1), node->input(2), false);
  if (kind == "aten::mm") {
    return linear(node->input(0), node->input(1), graph.insertConstant(c10::IValue()), true);
  }
  if (kind == "aten::addmm") {
    if (!is_one(constant_argument(*node, "alpha")) || !is_one(constant_argument(*node, "beta"))) return std::nullopt;
    return linear(node->input(1), node->input(2), node->input(0), true);
  }
  for (const char* each :
       {"aten::conv1d", "aten::conv2d", "aten::convolution", "aten::conv_transpose1d", "aten::conv_transpose2d"}) {
    if (kind == each) return convolution(*node, node->input(0));
  }
  return std::nullopt;
}

c10::IValue packed(const Layer& layer, const at::Tensor& bias) {
  const auto prepack =
      c10::Dispatcher::singleton().findSchemaOrThrow((std::string("quantized::") + layer.prepack).c_str(), "");
  torch::jit::Stack stack = {layer.weight, bias.defined() ? c10::IValue(bias) : c10::IValue()};
  stack.insert(stack.end(), layer.arguments.begin(), layer.arguments.end());
  prepack.callBoxed(&stack);
  return stack.at(0);
}

std::string new_attribute(Module& module, const c10::IValue& value) {
  size_t number = 0;
  while (module.hasattr(fmt::format("{}{}", kLayerAttribute, number))) ++number;
  const std::string name = fmt::format("{}{}", kLayerAttribute, number);
  module.register_attribute(name, value.type(), value);
  return name;
}

}  // namespace

Value* quantised_before(Value* value) {
  if (value->node()->kind() != c10::Symbol::aten("dequantize")) return nullptr;
  Value* before = value->node()->input(0);
  const auto constant = torch::jit::toIValue(before);
  if (!constant) return before;
  const at::Tensor tensor = constant->toTensor();
  if (tensor.scalar_type() != at::kQInt8 || tensor.qscheme() != at::kPerTensorAffine) return nullptr;
  return value->owningGraph()->insertConstant(as_quint8(tensor));
}

Value* add_quantised_layer(Node* node, const QuantisedResult& result, Module& module, Value* self) {
  Graph& graph = *node->owningGraph();
  const auto layer = layer_of(node, graph);
  if (!layer) return nullptr;
  Value* input = quantised_before(layer->input);
  const auto bias = bias_of(*layer->bias, module, *self);
  const bool is_per_channel = layer->weight.qscheme() != at::kPerTensorAffine;
  const bool is_of_outputs = !is_per_channel || layer->weight.q_per_channel_axis() == layer->output_axis;
  if (input == nullptr || !bias || !is_of_outputs) return nullptr;
  c10::IValue weights;
  try {
    weights = packed(*layer, *bias);
  } catch (const std::exception&) {
    return nullptr;  // the engine of this PyTorch has no such layer: it stays float
  }
  Value* attribute = graph.insertGetAttr(self, new_attribute(module, weights));
  const bool is_fused = result.has_relu && layer->has_relu_form;
  const std::string name = std::string("quantized::") + layer->name + (is_fused ? "_relu" : "");
  Value* value = graph.insert(c10::Symbol::fromQualString(name), {input, attribute, result.scale, result.zero_point});
  return result.has_relu && !is_fused ? graph.insert(c10::aten::relu, {value}) : value;
}

}  // namespace nnapi_convert
