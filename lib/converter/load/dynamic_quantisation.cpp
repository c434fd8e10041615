// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/dynamic_quantisation.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/passes/remove_mutation.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "lib/converter/graph/node_reads.h"
#include "lib/converter/graph/object_state.h"
#include "lib/converter/graph/packed_layer.h"
#include "lib/converter/load/newer_operators.h"
#include "lib/ops/plain_calls.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::NamedValue;
using torch::jit::Node;
using torch::jit::Value;

struct Weights {
  at::Tensor weight;  // the floats that the rounded numbers stand for
  c10::IValue bias;   // a tensor or None
};

Weights float_weights(const at::Tensor& weight, const c10::optional<at::Tensor>& bias) {
  const at::Tensor plain = weight.is_quantized() ? weight.dequantize() : weight.to(at::kFloat);
  const bool has_bias = bias && bias->defined();
  return {plain.contiguous(), has_bias ? c10::IValue(bias->detach().to(at::kFloat).contiguous()) : c10::IValue()};
}

std::optional<Weights> linear_weights(const c10::IValue& packed) {
  const auto layer = packed_as<LinearPackedParamsBase>(packed);
  if (layer == nullptr) return std::nullopt;
  const auto [weight, bias] = layer->unpack();
  return float_weights(weight, bias);
}

void replace(Node* node, const std::vector<Value*>& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    results[i]->setType(node->output(i)->type());
    node->output(i)->replaceAllUsesWith(results[i]);
  }
  node->destroy();
}

// Replaces the node's results by `results`, which is a tuple for an operator that gives several.
void replace_all(Node* node, Value* results) {
  const bool is_tuple = results->node()->kind() == c10::prim::TupleConstruct;
  replace(node, is_tuple ? results->node()->inputs().vec() : std::vector<Value*>{results});
  if (is_tuple) results->node()->destroy();
}

bool has_relu(const Node& node) {
  return std::string(node.kind().toUnqualString()).find("_relu") != std::string::npos;
}

bool make_linear(Node* node) {
  const auto packed = torch::jit::toIValue(node->input(1));
  const auto weights = packed ? linear_weights(*packed) : std::nullopt;
  if (!weights) return false;
  PlainCalls plain(node);
  Value* result =
      plain.insert("linear", {node->input(0), plain.constant(weights->weight), plain.constant(weights->bias)});
  replace(node, {has_relu(*node) ? plain.insert("relu", {result}) : result});
  return true;
}

// Replaces a quantised cell by a float one. The call has biases as arguments, too, but the cell reads those in its
// packed weights.
bool make_cell(Node* node) {
  const auto packed_input = known(node, "w_ih"), packed_hidden = known(node, "w_hh");
  const auto of_input = packed_input ? linear_weights(*packed_input) : std::nullopt;
  const auto of_hidden = packed_hidden ? linear_weights(*packed_hidden) : std::nullopt;
  if (!of_input || !of_hidden) return false;
  const std::string prefix = "quantized_", suffix = "_dynamic", name = node->kind().toUnqualString();
  const std::string plain_name = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  PlainCalls plain(node);
  replace_all(node, plain.insert(plain_name.c_str(), {node->input(0), node->input(1), plain.constant(of_input->weight),
                                                      plain.constant(of_hidden->weight), plain.constant(of_input->bias),
                                                      plain.constant(of_hidden->bias)}));
  return true;
}

// Returns the packed weights of one direction of a layer, for the input and for the hidden state.
std::optional<std::vector<Weights>> weights_of_direction(const c10::IValue& cell) {
  if (!cell.isCustomClass()) return std::nullopt;
  const auto state = saved_state(cell);
  if (!state || !state->isTuple()) return std::nullopt;
  const auto& parts = state->toTupleRef().elements();
  if (parts.empty() || !parts.back().isList()) return std::nullopt;
  std::vector<Weights> result;
  for (const c10::IValue& packed : parts.back().toListRef()) {
    const auto weights = linear_weights(packed);
    if (!weights) return std::nullopt;
    result.push_back(*weights);
  }
  return result.size() == 2 ? std::optional(result) : std::nullopt;
}

bool is_changed(const Value& list) {
  const auto& uses = list.uses();
  return std::any_of(uses.begin(), uses.end(), [](const torch::jit::Use& use) {
    const c10::FunctionSchema* schema = use.user->maybeSchema();
    return schema == nullptr || schema->is_mutable();
  });
}

// Returns the elements of a list if all of them are constants.
std::optional<std::vector<c10::IValue>> known_elements(const Value* list) {
  if (const auto constant = torch::jit::toIValue(list)) {
    return constant->isList() ? std::optional(constant->toListRef().vec()) : std::nullopt;
  }
  if (list->node()->kind() != c10::prim::ListConstruct || is_changed(*list)) return std::nullopt;
  std::vector<c10::IValue> elements;
  for (const Value* input : list->node()->inputs()) {
    const auto element = torch::jit::toIValue(input);
    if (!element) return std::nullopt;
    elements.push_back(*element);
  }
  return elements;
}

// Returns the weights and biases in the order in which aten::lstm takes them; nothing where they are computed.
std::optional<std::vector<at::Tensor>> recurrent_weights(Node* node) {
  const auto cells = known_elements(argument(node, "params"));
  const auto has_biases = known(node, "has_biases");
  if (!cells || !has_biases) return std::nullopt;
  std::vector<at::Tensor> result;
  for (const c10::IValue& cell : *cells) {
    const auto weights = weights_of_direction(cell);
    if (!weights) return std::nullopt;
    for (const Weights& each : *weights) result.push_back(each.weight);
    if (!has_biases->toBool()) continue;
    for (const Weights& each : *weights) {
      result.push_back(each.bias.isTensor() ? each.bias.toTensor() : at::zeros({each.weight.size(0)}));
    }
  }
  return result;
}

bool make_recurrent(Node* node) {
  static const std::vector<std::string> own = {"dtype", "use_dynamic"};  // arguments that the float operator lacks
  const auto weights = recurrent_weights(node);
  if (!weights) return false;
  PlainCalls plain(node);
  std::vector<Value*> tensors;
  for (const at::Tensor& tensor : *weights) tensors.push_back(plain.constant(tensor));
  std::vector<NamedValue> arguments;
  for (const c10::Argument& each : node->schema().arguments()) {
    if (std::find(own.begin(), own.end(), each.name()) != own.end()) continue;
    arguments.emplace_back(each.name() == "params" ? plain.list(tensors) : argument(node, each.name()));
  }
  const bool is_lstm = node->kind() == c10::Symbol::fromQualString("aten::quantized_lstm");
  replace_all(node, plain.insert(is_lstm ? "lstm" : "gru", arguments));
  return true;
}

struct Replacement {
  const char* kind;
  bool (*replace)(Node*);  // false leaves all as it was
};

constexpr Replacement kReplacements[] = {
    {"quantized::linear_dynamic", make_linear},
    {"quantized::linear_relu_dynamic", make_linear},
    {"quantized::linear_dynamic_fp16", make_linear},
    {"quantized::linear_relu_dynamic_fp16", make_linear},
    {"quantized::quantized_lstm_cell_dynamic", make_cell},
    {"quantized::quantized_gru_cell_dynamic", make_cell},
    {"quantized::quantized_rnn_relu_cell_dynamic", make_cell},
    {"quantized::quantized_rnn_tanh_cell_dynamic", make_cell},
    {"aten::quantized_lstm", make_recurrent},
    {"aten::quantized_gru", make_recurrent},
};

const Replacement* find_replacement(const Node& node) {
  const std::string kind = node.kind().toQualString();
  const auto* found = std::find_if(std::begin(kReplacements), std::end(kReplacements),
                                   [&](const Replacement& replacement) { return kind == replacement.kind; });
  return found == std::end(kReplacements) ? nullptr : found;
}

}  // namespace

void remove_dynamic_quantisation(const std::shared_ptr<Graph>& graph) {
  std::vector<Node*> nodes;
  for_each_node(*graph, [&](Node& node) {
    if (find_replacement(node) != nullptr) nodes.push_back(&node);
  });
  if (nodes.empty()) return;
  torch::jit::RemoveListMutation(graph);  // a script appends the parameters of layers to a list
  for (Node* node : nodes) find_replacement(*node)->replace(node);
}

bool is_dynamically_quantised(const torch::jit::Module& module) {
  bool is_found = false;
  for (const std::shared_ptr<Graph>& graph : saved_graphs(module)) {
    for_each_node(*graph, [&](const Node& node) { is_found = is_found || find_replacement(node) != nullptr; });
  }
  return is_found;
}

void warn_of_dynamic_quantisation(Diagnostics& diagnostics) {
  diagnostics.warn(
      "the model is quantised dynamically, which NNAPI has no operations for: it is converted as the float model that "
      "its rounded weights stand for; results differ by what the original rounds its activations in each call, and "
      "weights take four bytes each; for 8-bit arithmetic quantise the model statically");
}

}  // namespace nnapi_convert
