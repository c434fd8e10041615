// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/float_products.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/begins_with.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/converter/graph/packed_layer.h"
#include "lib/ops/plain_calls.h"
#include "lib/ops/quantized_weights.h"

namespace nnapi_convert {
namespace {

using torch::jit::NamedValue;
using torch::jit::Node;
using torch::jit::Value;

// The axis of the height 1 that 1-D convolutions get: they are packed as 2-D ones.
constexpr int64_t kHeightAxis = 2;

// Returns weight and bias of a layer, as floats.
std::vector<NamedValue> float_weights(PlainCalls& plain,
                                      const std::tuple<at::Tensor, c10::optional<at::Tensor>>& unpacked) {
  const auto& [weight, bias] = unpacked;
  const bool has_bias = bias && bias->defined();
  return {plain.constant(weight.dequantize().contiguous()),
          plain.constant(has_bias ? c10::IValue(bias->detach()) : c10::IValue())};
}

template <int kAxes>
Value* float_convolution(PlainCalls& plain, Value* input,
                         const c10::intrusive_ptr<ConvPackedParamsBase<kAxes>>& layer) {
  std::vector<NamedValue> arguments = float_weights(plain, layer->unpack());
  arguments.insert(arguments.begin(), input);
  arguments.insert(arguments.end(), {layer->stride().vec(), layer->padding().vec()});
  if (layer->transpose()) {
    arguments.insert(arguments.end(), {layer->output_padding().vec(), layer->groups(), layer->dilation().vec()});
  } else {
    arguments.insert(arguments.end(), {layer->dilation().vec(), layer->groups()});
  }
  const std::string name = (layer->transpose() ? "conv_transpose" : "conv") + std::to_string(kAxes) + "d";
  return plain.insert(name.c_str(), arguments);
}

// Inserts the product of floats; returns null for packed weights of another kind.
Value* float_product(PlainCalls& plain, const std::string& name, Value* input, const c10::IValue& packed) {
  if (const auto layer = packed_as<LinearPackedParamsBase>(packed)) {
    std::vector<NamedValue> arguments = float_weights(plain, layer->unpack());
    arguments.insert(arguments.begin(), input);
    return plain.insert("linear", arguments);
  }
  if (const auto layer = packed_as<ConvPackedParamsBase<3>>(packed)) return float_convolution<3>(plain, input, layer);
  const auto layer = packed_as<ConvPackedParamsBase<2>>(packed);
  if (layer == nullptr) return nullptr;
  if (name.find("1d") == std::string::npos) return float_convolution<2>(plain, input, layer);
  Value* result = float_convolution<2>(plain, plain.insert("unsqueeze", {input, kHeightAxis}), layer);
  return plain.insert("squeeze", {result, kHeightAxis});
}

bool is_product(const std::string& name) {
  static const std::vector<std::string> names = {"conv1d",           "conv2d",           "conv3d", "conv_transpose1d",
                                                 "conv_transpose2d", "conv_transpose3d", "linear"};
  const std::string relu = "_relu";
  const bool has_relu = name.size() > relu.size() && name.compare(name.size() - relu.size(), relu.size(), relu) == 0;
  const std::string plain = has_relu ? name.substr(0, name.size() - relu.size()) : name;
  return std::find(names.begin(), names.end(), plain) != names.end();
}

// Returns the scale of a quantised value, as stated by an operator that the value comes from; nothing where none does.
std::optional<double> scale_of(const Value* value) {
  constexpr int kMostSteps = 64;  // operators that keep the scale, such as pooling
  for (int step = 0; step < kMostSteps; ++step) {
    const Node* node = value->node();
    const c10::FunctionSchema* schema = node->maybeSchema();
    if (schema == nullptr) return std::nullopt;
    for (const char* name : {"output_scale", "scale", "Y_scale_i"}) {
      const auto place = schema->argumentIndexWithName(name);
      const auto scale = place ? torch::jit::toIValue(node->input(static_cast<size_t>(*place))) : c10::nullopt;
      if (scale && scale->isDouble()) return scale->toDouble();
    }
    if (node->inputs().empty() || node->input(0)->type()->kind() != c10::TypeKind::TensorType) return std::nullopt;
    value = node->input(0);
  }
  return std::nullopt;
}

bool is_beyond_int32(const Node& node) {
  const auto packed = torch::jit::toIValue(node.input(1));
  const auto scale = scale_of(node.input(0));
  if (!packed || !scale) return false;
  const auto of_layer = [&](const auto& layer) {
    const auto [weight, bias] = layer->unpack();
    return bias && bias->defined() && channels_beyond_int32(weight, *bias, *scale) > 0;
  };
  if (const auto layer = packed_as<LinearPackedParamsBase>(*packed)) return of_layer(layer);
  if (const auto layer = packed_as<ConvPackedParamsBase<3>>(*packed)) return of_layer(layer);
  const auto layer = packed_as<ConvPackedParamsBase<2>>(*packed);
  return layer != nullptr && of_layer(layer);
}

bool is_quantised_product(const Node& node) {
  return begins_with(node.kind().toQualString(), "quantized::") && is_product(node.kind().toUnqualString());
}

bool has_relu(const std::string& name) {
  return name.find("_relu") != std::string::npos;
}

}  // namespace

bool make_float_product(Node* node) {
  const std::string name = node->kind().toUnqualString();
  if (!is_quantised_product(*node)) return false;
  const auto packed = torch::jit::toIValue(node->input(1));
  if (!packed) return false;
  PlainCalls plain(node);
  Value* input = plain.insert("dequantize", {node->input(0)});
  Value* result = float_product(plain, name, input, *packed);
  if (result == nullptr) {
    input->node()->destroy();
    return false;
  }
  if (has_relu(name)) result = plain.insert("relu", {result});
  const size_t count = node->inputs().size();  // scale and zero point come last
  result = plain.insert("quantize_per_tensor", {result, node->input(count - 2), node->input(count - 1), at::kQUInt8});
  result->setType(node->output()->type());
  replace_by(node, {result});
  return true;
}

size_t make_float_products(torch::jit::Graph& graph, Products which) {
  std::vector<Node*> nodes;
  for_each_node(graph, [&](Node& node) {
    if (is_quantised_product(node) && (which == Products::kAll || is_beyond_int32(node))) nodes.push_back(&node);
  });
  size_t count = 0;
  for (Node* node : nodes) count += make_float_product(node) ? 1 : 0;
  return count;
}

}  // namespace nnapi_convert
