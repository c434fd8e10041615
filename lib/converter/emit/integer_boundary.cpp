// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/integer_boundary.h"

#include <algorithm>
#include <optional>

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

bool is_move(const Node& node) {
  const auto kind = node.kind();
  return kind == c10::aten::permute || kind == c10::aten::contiguous || kind == c10::aten::reshape ||
         kind == c10::aten::clone;
}

// Returns the number of the call's result that the value is, moved or not; nothing for other values.
std::optional<size_t> result_number(const Value* value) {
  while (is_move(*value->node())) value = value->node()->input(0);
  const Node& node = *value->node();
  if (node.kind() != c10::aten::__getitem__ || node.input(0)->node()->kind() != c10::prim::CallMethod) {
    return std::nullopt;
  }
  const auto number = torch::jit::toIValue(node.input(1));
  if (!number || !number->isInt()) return std::nullopt;
  return static_cast<size_t>(number->toInt());
}

// True if nothing but floats is made of the value.
bool is_dequantised(const Value* value) {
  return std::all_of(value->uses().begin(), value->uses().end(), [](const torch::jit::Use& use) {
    return use.user->kind() == c10::aten::dequantize || (is_move(*use.user) && is_dequantised(use.user->output()));
  });
}

// True if NNAPI alone reads the value.
bool is_read_by_nnapi(const Value* value) {
  return std::all_of(value->uses().begin(), value->uses().end(), [](const torch::jit::Use& use) {
    if (is_move(*use.user)) return is_read_by_nnapi(use.user->output());
    if (use.user->kind() != c10::prim::ListConstruct) return false;
    const auto& uses = use.user->output()->uses();
    return !uses.empty() && std::all_of(uses.begin(), uses.end(), [](const torch::jit::Use& of_list) {
      return of_list.user->kind() == c10::prim::CallMethod && of_list.user->s(c10::attr::name) == "run" &&
             of_list.offset == 2;
    });
  });
}

// Quantises to plain integers as at::quantize_per_tensor does: the scale's inverse is a float, halves go to the even
// integer.
void quantise_node(Graph& graph, Node& node) {
  const auto scale = torch::jit::toIValue(node.input(1)), zero_point = torch::jit::toIValue(node.input(2)),
             dtype = torch::jit::toIValue(node.input(3));
  if (!scale || !scale->isDouble() || !zero_point || !zero_point->isInt() || !dtype) return;
  const auto type = static_cast<at::ScalarType>(dtype->toInt());
  if (type != at::kQUInt8 && type != at::kQInt8) return;
  const bool is_signed = type == at::kQInt8;
  const torch::jit::WithInsertPoint guard(&node);
  const auto inverse = static_cast<double>(1.0F / static_cast<float>(scale->toDouble()));
  Value* value = graph.insert(c10::aten::mul, {node.input(0), inverse});
  value = graph.insert(c10::aten::round, {value});
  value = graph.insert(c10::aten::add, {value, zero_point->toInt()});
  value = graph.insert(c10::aten::clamp, {value, is_signed ? -128 : 0, is_signed ? 127 : 255});
  value = graph.insert(c10::aten::to, {value, is_signed ? at::kChar : at::kByte});
  node.output()->replaceAllUsesWith(value);
}

void dequantise_node(Graph& graph, Node& node, const Quantization& quantization) {
  const torch::jit::WithInsertPoint guard(&node);
  Value* value = graph.insert(c10::aten::to, {node.input(0), at::kFloat});
  value = graph.insert(c10::aten::sub, {value, static_cast<int64_t>(quantization.zero_point)});
  value = graph.insert(c10::aten::mul, {value, quantization.scale});
  node.output()->replaceAllUsesWith(value);
}

// Replaces dequantize of `value`, or of some of its elements, by a cast to float: `value` has the scale 1 and the zero
// point 0, so that its codes are the bytes themselves.
void cast_for_dequantise(Graph& graph, Value* value) {
  const std::vector<torch::jit::Use> uses = value->uses();
  for (const torch::jit::Use& use : uses) {
    Node* const user = use.user;
    if (user->kind() == c10::aten::dequantize) {
      const torch::jit::WithInsertPoint guard(user);
      user->output()->replaceAllUsesWith(graph.insert(c10::aten::to, {value, at::kFloat}));
    } else if (user->kind() != c10::prim::CallMethod) {
      for (Value* output : user->outputs()) cast_for_dequantise(graph, output);
    }
  }
}

// Replaces codes that a node makes of a camera's bytes, with the same numbers, by the bytes.
void bytes_node(Graph& graph, Node& node) {
  const auto scale = torch::jit::toIValue(node.input(1)), zero_point = torch::jit::toIValue(node.input(2));
  if (!scale || *scale != c10::IValue(1.0) || !zero_point || *zero_point != c10::IValue(0)) return;
  cast_for_dequantise(graph, node.output());
  node.output()->replaceAllUsesWith(node.input(0));
}

// Lets a call give plain integers for outputs of which only floats are made.
void take_scales_away(Graph& graph, Node& call, const std::vector<Quantization>& outputs) {
  Value* const results = call.output();
  std::vector<bool> is_float(outputs.size(), true);
  for (const torch::jit::Use& use : results->uses()) {
    const auto number = use.user->kind() == c10::aten::__getitem__ ? result_number(use.user->output()) : std::nullopt;
    if (!number || *number >= outputs.size()) return;
    is_float[*number] = is_float[*number] && is_dequantised(use.user->output());
  }
  Node& list = *call.input(3)->node();
  if (list.kind() != c10::prim::ListConstruct || list.inputs().size() != outputs.size()) return;
  const torch::jit::WithInsertPoint guard(&list);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (is_float[i] && outputs[i].scale != 0) list.replaceInput(i, graph.insertConstant(0.0));
  }
}

}  // namespace

void use_integers(Graph& graph, const std::vector<Quantization>& outputs) {
  const std::vector<Node*> nodes(graph.nodes().begin(), graph.nodes().end());
  for (Node* node : nodes) {
    if (node->kind() == c10::prim::CallMethod && node->s(c10::attr::name) == "run") {
      take_scales_away(graph, *node, outputs);
    }
  }
  static const c10::Symbol kMake = c10::Symbol::fromQualString("aten::_make_per_tensor_quantized_tensor");
  for (Node* node : nodes) {
    if (node->kind() == kMake) bytes_node(graph, *node);
  }
  for (Node* node : nodes) {
    if (node->kind() == c10::aten::quantize_per_tensor && is_read_by_nnapi(node->output())) quantise_node(graph, *node);
    if (node->kind() != c10::aten::dequantize) continue;
    const std::optional<size_t> number = result_number(node->input(0));
    if (number && *number < outputs.size() && outputs[*number].scale != 0) {
      dequantise_node(graph, *node, outputs[*number]);
    }
  }
}

}  // namespace nnapi_convert
