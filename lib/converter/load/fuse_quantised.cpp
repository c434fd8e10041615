// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/fuse_quantised.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/converter/load/quantised_layers.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Module;
using torch::jit::NamedValue;
using torch::jit::Node;
using torch::jit::Value;

constexpr double kLargestByte = 255;

struct Scale {
  double scale;
  int64_t zero_point;
  bool operator==(const Scale& other) const { return scale == other.scale && zero_point == other.zero_point; }
};

// Returns the scale of a quantised constant, or of a result of quantize_per_tensor with constants; else nothing.
std::optional<Scale> scale_of(const Value& quantised) {
  if (const auto constant = torch::jit::toIValue(&quantised)) {
    return Scale{constant->toTensor().q_scale(), constant->toTensor().q_zero_point()};
  }
  const Node* node = quantised.node();
  if (node->kind() != c10::Symbol::aten("quantize_per_tensor") || node->inputs().size() != 4) return std::nullopt;
  const auto scale = torch::jit::toIValue(node->input(1)), zero_point = torch::jit::toIValue(node->input(2));
  if (!scale || !zero_point || !scale->isDouble() || !zero_point->isInt()) return std::nullopt;
  return Scale{scale->toDouble(), zero_point->toInt()};
}

std::optional<c10::IValue> constant_input(const Node& node, size_t index) {
  if (index >= node.inputs().size()) return std::nullopt;
  const auto value = torch::jit::toIValue(node.input(index));
  return value ? std::optional<c10::IValue>(*value) : std::nullopt;
}

// The least and the greatest result of relu and similar operators.
struct Limits {
  double low = -HUGE_VAL;
  double high = HUGE_VAL;
  bool is_relu() const { return low == 0; }
};

std::optional<double> limit(const std::optional<c10::IValue>& value, double otherwise) {
  if (!value) return std::nullopt;
  if (value->isNone()) return otherwise;
  return value->isScalar() ? std::optional(value->toScalar().toDouble()) : std::nullopt;
}

// Returns the limits of relu and similar operators; nothing for other nodes.
std::optional<Limits> limits_of(const Node& node) {
  const std::string kind = node.kind().toQualString();
  if (kind == "aten::relu" || kind == "aten::relu_") return Limits{0};
  if (kind == "aten::relu6" || kind == "aten::relu6_") return Limits{0, 6};
  const bool is_hardtanh = kind == "aten::hardtanh" || kind == "aten::hardtanh_";
  if (!is_hardtanh && kind != "aten::clamp" && kind != "aten::clamp_") return std::nullopt;
  const auto low = limit(constant_input(node, 1), -HUGE_VAL), high = limit(constant_input(node, 2), HUGE_VAL);
  return low && high && *low <= *high ? std::optional(Limits{*low, *high}) : std::nullopt;
}

// Returns the limits of both operators together, where `inner` limits first.
Limits limits_after(const Limits& inner, const Limits& outer) {
  return {std::min(std::max(inner.low, outer.low), outer.high), std::max(std::min(inner.high, outer.high), outer.low)};
}

// True for an operator that can give its result in the scale of its input.
bool keeps_scale(const Node& node) {
  static const std::set<std::string> kinds = {"aten::max_pool1d",
                                              "aten::max_pool2d",
                                              "aten::adaptive_avg_pool1d",
                                              "aten::adaptive_avg_pool2d",
                                              "aten::avg_pool1d",
                                              "aten::avg_pool2d",
                                              "aten::mean",
                                              "aten::relu",
                                              "aten::hardtanh",
                                              "aten::clamp",
                                              "aten::flatten",
                                              "aten::view",
                                              "aten::reshape",
                                              "aten::permute",
                                              "aten::transpose",
                                              "aten::squeeze",
                                              "aten::unsqueeze",
                                              "aten::slice",
                                              "aten::select",
                                              "aten::contiguous",
                                              "aten::upsample_nearest2d",
                                              "aten::_adaptive_avg_pool2d",
                                              "aten::upsample_bilinear2d",
                                              "aten::pixel_shuffle",
                                              "aten::channel_shuffle"};
  return kinds.count(node.kind().toQualString()) != 0;
}

class Fusion {
 public:
  Fusion(Graph& graph, Module& module) : graph_(graph), module_(module), self_(graph.inputs()[0]) {}

  void run(Block* block) {
    const std::vector<Node*> nodes(block->nodes().begin(), block->nodes().end());
    for (Node* node : nodes) {
      for (Block* inner : node->blocks()) run(inner);
      const bool is_quantize = node->kind() == c10::Symbol::aten("quantize_per_tensor") && node->inputs().size() == 4 &&
                               scale_of(*node->output());
      if (is_quantize) fuse(node);
    }
  }

 private:
  struct Place {
    Node* quantize;
    Scale scale;
  };

  void fuse(Node* quantize) {
    const Place place{quantize, *scale_of(*quantize->output())};
    const torch::jit::WithInsertPoint here(quantize);
    Node* last = quantize->input(0)->node();
    if (!is_only_for(quantize->input(0))) return;
    const Node* before = quantize->prev();
    Limits limits;
    Value* result = fused(last, place, limits);
    for (auto next = limits_of(*last); result == nullptr && next; next = limits_of(*last)) {
      if (!is_only_for(last->input(0))) return;
      limits = limits_after(*next, limits);
      last = last->input(0)->node();
      result = fused(last, place, limits);
    }
    if (result == nullptr) return;
    for (Node* made = quantize->prev(); made != before; made = made->prev()) made->setSourceRange(last->sourceRange());
    replace(quantize, result);
  }

  void replace(Node* quantize, Value* result) {
    if (quantize->output()->hasDebugName()) result->copyMetadata(quantize->output());
    result->setType(quantize->output()->type());
    quantize->output()->replaceAllUsesWith(result);
    scales_.emplace(result, *scale_of(*quantize->output()));
  }

  static bool is_only_for(const Value* value) { return value->uses().size() == 1; }

  std::optional<Scale> known_scale(Value* quantised) const {
    const auto found = scales_.find(quantised);
    return found != scales_.end() ? std::optional(found->second) : scale_of(*quantised);
  }

  // Returns the result of a quantised operator for `node` and the limits of its result; null if there is none.
  Value* fused(Node* node, const Place& place, const Limits& limits) {
    const QuantisedResult wanted{place.scale.scale, place.scale.zero_point, limits.is_relu()};
    Value* value = add_quantised_layer(node, wanted, module_, self_);
    if (value == nullptr) value = binary(node, place, limits);
    if (value != nullptr) return limited(value, place, {limits.is_relu() ? -HUGE_VAL : limits.low, limits.high});
    for (auto form : {&Fusion::joined, &Fusion::scaled, &Fusion::kept}) {
      value = (this->*form)(node, place);
      if (value != nullptr) return limited(value, place, limits);
    }
    return nullptr;
  }

  // Applies the limits, except for those that the integers have anyway.
  Value* limited(Value* value, const Place& place, const Limits& limits) {
    const auto integer = [&](double limit) {
      return std::nearbyint(limit / place.scale.scale) + static_cast<double>(place.scale.zero_point);
    };
    const bool has_low = integer(limits.low) > 0, has_high = integer(limits.high) < kLargestByte;
    if (!has_low && !has_high) return value;
    if (limits.is_relu() && !has_high) return graph_.insert(c10::aten::relu, {value});
    const auto value_of = [&](double number) {
      return (number - static_cast<double>(place.scale.zero_point)) * place.scale.scale;
    };
    const double low = std::max(limits.low, value_of(0)), high = std::min(limits.high, value_of(kLargestByte));
    return graph_.insert(c10::aten::clamp, {in_order(value), low, high});
  }

  // Puts a value into the usual order of memory: PyTorch 1.13.1 limits quantised tensors in the order of their memory,
  // and gives the results in the usual one.
  Value* in_order(Value* value) { return graph_.insert(c10::aten::contiguous, {value}); }

  Value* insert(const char* name, const std::vector<NamedValue>& arguments) {
    return graph_.insert(c10::Symbol::fromQualString(name), arguments);
  }

  Value* binary(Node* node, const Place& place, const Limits& limits) {
    const std::string kind = node->kind().toQualString();
    const bool is_add = kind == "aten::add" || kind == "aten::add_",
               is_mul = kind == "aten::mul" || kind == "aten::mul_";
    if (!is_add && !is_mul) return nullptr;
    if (is_add) {
      const auto alpha = constant_input(*node, 2);
      if (!alpha || !alpha->isScalar() || !alpha->toScalar().equal(1)) return nullptr;
    }
    Value* first = quantised_before(node->input(0));
    Value* second = quantised_before(node->input(1));
    if (first == nullptr || second == nullptr) return nullptr;
    const char* name = is_add ? (limits.is_relu() ? "quantized::add_relu" : "quantized::add")
                              : (limits.is_relu() ? "quantized::mul_relu" : "quantized::mul");
    return insert(name, {first, second, place.scale.scale, place.scale.zero_point});
  }

  Value* joined(Node* node, const Place& place) {
    if (node->kind() != c10::aten::cat || node->input(0)->node()->kind() != c10::prim::ListConstruct) return nullptr;
    std::vector<Value*> tensors;
    for (Value* input : node->input(0)->node()->inputs()) {
      tensors.push_back(quantised_before(input));
      if (tensors.back() == nullptr) return nullptr;
    }
    Value* list = graph_.insertNode(graph_.createList(c10::TensorType::get(), tensors))->output();
    return insert("quantized::cat", {list, node->input(1), place.scale.scale, place.scale.zero_point});
  }

  // Returns the quantised form of an operator that gives any scale; null for other operators.
  Value* scaled(Node* node, const Place& place) {
    if (node->inputs().empty()) return nullptr;
    const std::string kind = node->kind().toQualString();
    const NamedValue scale(place.scale.scale), zero(place.scale.zero_point);
    Value* before = quantised_before(node->input(0));
    if (before == nullptr) return nullptr;
    const bool is_share = place.scale == Scale{1.0 / 256, 0};  // the only scale of QNNPACK's sigmoid
    if (kind == "aten::sigmoid") return is_share ? insert("quantized::sigmoid", {before, scale, zero}) : nullptr;
    if (kind == "aten::hardswish") return insert("quantized::hardswish", {before, scale, zero});
    if (kind == "aten::leaky_relu") {
      return insert("quantized::leaky_relu", {before, node->input(1), false, scale, zero});
    }
    if (kind == "aten::elu") {
      return insert("quantized::elu", {before, scale, zero, node->input(1), node->input(2), node->input(3)});
    }
    if (kind == "aten::softmax" || kind == "aten::_softmax") {
      return insert("quantized::softmax", {before, node->input(1), scale, zero});
    }
    const bool is_tanh = kind == "aten::tanh" && place.scale == Scale{2.0 / 256, 128};
    const bool is_hardsigmoid = kind == "aten::hardsigmoid" && is_share;
    return is_tanh || is_hardsigmoid ? insert(kind.c_str(), {before}) : nullptr;
  }

  Value* kept(Node* node, const Place& place) {
    const bool has_indices = node->kind() == c10::Symbol::aten("max_pool2d_with_indices");
    if (!keeps_scale(*node) && !has_indices) return nullptr;
    if (has_indices && node->output(1)->hasUses()) return nullptr;
    Value* before = quantised_before(node->input(0));
    if (before == nullptr || !(known_scale(before) == std::optional(place.scale))) return nullptr;
    const bool has_limits = limits_of(*node) && node->kind() != c10::aten::relu;
    std::vector<Value*> inputs = node->inputs().vec();
    inputs[0] = has_limits ? in_order(before) : before;
    Node* made = graph_.create(has_indices ? c10::Symbol::aten("max_pool2d") : node->kind(), inputs, 1);
    return graph_.insertNode(made)->output();
  }

  Graph& graph_;
  Module& module_;
  Value* self_;
  std::map<const Value*, Scale> scales_;  // of results of quantised operators
};

bool has_quantize(Block& block) {
  return std::any_of(block.nodes().begin(), block.nodes().end(), [](Node* node) {
    const auto& blocks = node->blocks();
    return node->kind() == c10::Symbol::aten("quantize_per_tensor") ||
           node->kind() == c10::Symbol::aten("dequantize") ||
           std::any_of(blocks.begin(), blocks.end(), [](Block* inner) { return has_quantize(*inner); });
  });
}

}  // namespace

void fuse_quantised(Graph& graph, Module& module) {
  if (!has_quantize(*graph.block())) return;
  Fusion(graph, module).run(graph.block());
  torch::jit::EliminateDeadCode(graph.block());
}

}  // namespace nnapi_convert
