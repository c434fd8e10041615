// SPDX-License-Identifier: BSD-3-Clause
// Attention as PyTorch's fast path has it: one operator for projections, attention and, in an encoder's layer, all of
// it.
#include <ATen/ATen.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "lib/ops/decompositions.h"
#include "lib/ops/plain_calls.h"

namespace nnapi_convert {
namespace {

using torch::jit::NamedValue;
using torch::jit::Node;
using torch::jit::Value;

class Plain : public PlainCalls {
 public:
  using PlainCalls::PlainCalls;

  Value* size(Value* tensor, int64_t axis) { return insert("size", {tensor, axis}); }

  Value* sizes(const std::vector<NamedValue>& values) {
    std::vector<Value*> elements;
    for (const NamedValue& value : values) elements.push_back(value.value(graph()));
    return graph().insertNode(graph().createList(c10::IntType::get(), elements))->output();
  }

  Value* permute(Value* tensor, const std::vector<int64_t>& order) {
    return insert("permute", {tensor, c10::IValue(order)});
  }

  std::vector<Value*> thirds(Value* tensor) {
    Value* parts = insert("chunk", {tensor, 3, -1});
    return graph().insertNode(graph().createListUnpack(parts, 3))->outputs().vec();
  }
};

struct Projections {
  at::Tensor in_weight, in_bias, out_weight, out_bias;
  int64_t width, heads;
};

std::optional<Projections> projections(Node* node, const char* embed_dim, const char* heads) {
  const auto in_weight = known(node, "qkv_weight");
  const auto in_bias = known(node, "qkv_bias");
  const auto out_weight = known(node, "proj_weight");
  const auto out_bias = known(node, "proj_bias");
  const auto width = known(node, embed_dim);
  const auto count = known(node, heads);
  if (!in_weight || !in_bias || !out_weight || !out_bias || !width || !count) return std::nullopt;
  return Projections{in_weight->toTensor().detach(),
                     in_bias->toTensor().detach(),
                     out_weight->toTensor().detach(),
                     out_bias->toTensor().detach(),
                     width->toInt(),
                     count->toInt()};
}

// The operands of softmax(query @ key^T + mask) @ value, each [batch, heads, length, features]; the query is scaled
// already.
struct Attention {
  Value* result;
  Value* weights;
};

// Hides each score whose element of the mask isn't 0. PyTorch 2 hands over masks of float32, 0 and minus infinity, and
// ATen's fused layers read any mask as bool.
Value* masked(Plain& plain, Value* scores, Value* mask) {
  const auto constant = torch::jit::toIValue(mask);
  if (constant && constant->isTensor()) {
    const at::Tensor hidden = constant->toTensor().to(at::kBool);
    const at::Tensor added = at::zeros(hidden.sizes(), at::kFloat).masked_fill(hidden, -INFINITY);
    return plain.insert("add", {scores, plain.constant(added)});
  }
  Value* hidden = plain.insert("to", {mask, static_cast<int64_t>(at::kBool)});
  return plain.insert("masked_fill", {scores, hidden, -INFINITY});
}

// Reshapes [batch, length, width] to [batch, length, heads, features], and puts these axes into `order`.
Value* split_heads(Plain& plain, Value* tensor, const Projections& weights, const std::vector<int64_t>& order) {
  Value* shape =
      plain.sizes({plain.size(tensor, 0), plain.size(tensor, 1), weights.heads, weights.width / weights.heads});
  return plain.permute(plain.insert("reshape", {tensor, shape}), order);
}

// Returns queries, keys and values; the queries are scaled. If all come from one sequence, one linear layer makes them.
std::vector<Value*> project(Plain& plain, const Projections& weights, const std::vector<Value*>& inputs) {
  const double scale = 1 / std::sqrt(static_cast<double>(weights.width / weights.heads));
  std::vector<Value*> projected;
  if (inputs[0] == inputs[1] && inputs[0] == inputs[2]) {
    projected = plain.thirds(plain.linear(inputs[0], weights.in_weight, weights.in_bias));
    projected[0] = plain.insert("mul", {projected[0], scale});
    return projected;
  }
  for (int64_t i = 0; i < 3; ++i) {
    at::Tensor weight = weights.in_weight.narrow(0, i * weights.width, weights.width);
    at::Tensor bias = weights.in_bias.narrow(0, i * weights.width, weights.width);
    if (i == 0) {
      weight = weight * scale;
      bias = bias * scale;
    }
    projected.push_back(plain.linear(inputs[static_cast<size_t>(i)], weight, bias));
  }
  return projected;
}

Attention attend(Plain& plain, const Projections& weights, const std::vector<Value*>& inputs, Value* mask) {
  const std::vector<Value*> projected = project(plain, weights, inputs);
  Value* query = split_heads(plain, projected[0], weights, {0, 2, 1, 3});
  Value* key = split_heads(plain, projected[1], weights, {0, 2, 3, 1});
  Value* value = split_heads(plain, projected[2], weights, {0, 2, 1, 3});
  Value* scores = plain.insert("matmul", {query, key});
  if (mask != nullptr) scores = masked(plain, scores, mask);
  Value* attention = plain.insert("softmax", {scores, -1});
  Value* joined = plain.permute(plain.insert("matmul", {attention, value}), {0, 2, 1, 3});
  Value* shape = plain.sizes({plain.size(inputs[0], 0), plain.size(inputs[0], 1), weights.width});
  Value* result = plain.linear(plain.insert("reshape", {joined, shape}), weights.out_weight, weights.out_bias);
  return {result, attention};
}

// Returns the mask in a shape that broadcasts to [batch, heads, length, length]; null without a mask, nullopt for a
// mask of unknown form. Only masks of type 1 come here: [batch, length], the keys to hide. PyTorch 1.13.1 runs no other
// on the CPU, and script_fused_attention.cpp takes the others apart.
std::optional<Value*> mask_of(Plain& plain, Node* node) {
  constexpr int64_t kKeysToHide = 1;
  if (is_none(node, "mask")) return nullptr;
  const auto type = known(node, "mask_type");
  if (!type || !type->isInt() || type->toInt() != kKeysToHide) return std::nullopt;
  Value* mask = argument(node, "mask");
  const auto constant = torch::jit::toIValue(mask);
  if (constant) return plain.constant(constant->toTensor().unsqueeze(1).unsqueeze(1));
  return plain.insert("unsqueeze", {plain.insert("unsqueeze", {mask, 1}), 1});
}

bool decompose_multi_head_attention(Node* node) {
  const auto weights = projections(node, "embed_dim", "num_head");
  const auto needs_weights = known(node, "need_weights");
  const auto averages = known(node, "average_attn_weights");
  if (!weights || !needs_weights || !averages) return false;
  Plain plain(node);
  const auto mask = mask_of(plain, node);
  if (!mask) return false;
  const Attention attention =
      attend(plain, *weights, {argument(node, "query"), argument(node, "key"), argument(node, "value")}, *mask);
  Value* returned = nullptr;
  if (!needs_weights->toBool()) {
    returned = plain.none();  // a tensor that isn't defined
  } else if (!node->output(1)->uses().empty()) {
    returned = averages->toBool() ? plain.insert("mean", {attention.weights, c10::IValue(std::vector<int64_t>{1})})
                                  : attention.weights;
  }
  replace_by(node, {attention.result, returned});
  return true;
}

Value* normalised(Plain& plain, Node* node, Value* input, const std::string& number, int64_t width) {
  return plain.insert("layer_norm",
                      {input, c10::IValue(std::vector<int64_t>{width}), argument(node, "norm_weight_" + number),
                       argument(node, "norm_bias_" + number), argument(node, "eps")});
}

Value* feed_forward(Plain& plain, Node* node, Value* input, bool use_gelu) {
  Value* hidden = plain.insert("linear", {input, argument(node, "ffn_weight_1"), argument(node, "ffn_bias_1")});
  hidden = plain.insert(use_gelu ? "gelu" : "relu", {hidden});
  return plain.insert("linear", {hidden, argument(node, "ffn_weight_2"), argument(node, "ffn_bias_2")});
}

bool decompose_encoder_layer(Node* node) {
  const auto weights = projections(node, "embed_dim", "num_heads");
  const auto use_gelu = known(node, "use_gelu");
  const auto norm_first = known(node, "norm_first");
  if (!weights || !use_gelu || !norm_first) return false;
  Plain plain(node);
  const auto mask = mask_of(plain, node);
  if (!mask) return false;
  Value* source = argument(node, "src");
  const int64_t width = weights->width;
  if (norm_first->toBool()) {
    Value* input = normalised(plain, node, source, "1", width);
    Value* middle = plain.insert("add", {source, attend(plain, *weights, {input, input, input}, *mask).result});
    Value* last = normalised(plain, node, middle, "2", width);
    replace_by(node, {plain.insert("add", {middle, feed_forward(plain, node, last, use_gelu->toBool())})});
    return true;
  }
  Value* sum = plain.insert("add", {source, attend(plain, *weights, {source, source, source}, *mask).result});
  Value* middle = normalised(plain, node, sum, "1", width);
  Value* last = plain.insert("add", {middle, feed_forward(plain, node, middle, use_gelu->toBool())});
  replace_by(node, {normalised(plain, node, last, "2", width)});
  return true;
}

}  // namespace

Decompositions attention_decompositions() {
  return {
      {"aten::_native_multi_head_attention", decompose_multi_head_attention},
      {"aten::_transformer_encoder_layer_fwd", decompose_encoder_layer},
  };
}

}  // namespace nnapi_convert
