#include "lib/converter/frontend/decompose.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/split_text.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/converter/graph/plain_calls.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::NamedValue;
using torch::jit::Node;
using torch::jit::Value;

bool is_none(Node* node, const std::string& name) {
  const auto value = known(node, name);
  return value && value->isNone();
}

class Plain : public PlainCalls {
 public:
  using PlainCalls::PlainCalls;

  Value* size(Value* tensor, int64_t axis) { return insert("size", {tensor, axis}); }

  Value* sizes(const std::vector<NamedValue>& values) {
    std::vector<Value*> elements;
    for (const NamedValue& value : values) elements.push_back(value.value(graph()));
    return graph().insertNode(graph().createList(c10::IntType::get(), elements))->output();
  }

  Value* linear(Value* input, const at::Tensor& weight, const at::Tensor& bias) {
    return insert("linear", {input, constant(weight), constant(bias)});
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

// softmax(query @ key^T + mask) @ value of [batch, heads, length, features], the query scaled already.
struct Attention {
  Value* result;
  Value* weights;
};

// Applies a mask to the scores: a boolean mask hides elements where it is true.
Value* masked(Plain& plain, Value* scores, Value* mask) {
  const auto constant = torch::jit::toIValue(mask);
  if (constant && constant->isTensor() && constant->toTensor().scalar_type() == at::kBool) {
    const at::Tensor hidden = constant->toTensor();
    const at::Tensor added = at::zeros(hidden.sizes(), at::kFloat).masked_fill(hidden, -INFINITY);
    return plain.insert("add", {scores, plain.constant(added)});
  }
  return plain.insert("masked_fill", {scores, mask, -INFINITY});
}

// [batch, length, width] to [batch, heads, length, features], by `order` of [batch, length, heads, features].
Value* split_heads(Plain& plain, Value* tensor, const Projections& weights, const std::vector<int64_t>& order) {
  Value* shape =
      plain.sizes({plain.size(tensor, 0), plain.size(tensor, 1), weights.heads, weights.width / weights.heads});
  return plain.permute(plain.insert("reshape", {tensor, shape}), order);
}

// Returns queries, keys and values; the queries are scaled. Of one sequence they come from one linear layer.
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

// The mask in a shape that broadcasts to [batch, heads, length, length]; null without one, nullopt if it isn't known
// how. PyTorch runs type 1 only on the CPU: [batch, length], which keys to hide.
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

void replace(Node* node, const std::vector<Value*>& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i] != nullptr) node->output(i)->replaceAllUsesWith(results[i]);
  }
  node->destroy();
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
  replace(node, {attention.result, returned});
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
    replace(node, {plain.insert("add", {middle, feed_forward(plain, node, last, use_gelu->toBool())})});
    return true;
  }
  Value* sum = plain.insert("add", {source, attend(plain, *weights, {source, source, source}, *mask).result});
  Value* middle = normalised(plain, node, sum, "1", width);
  Value* last = plain.insert("add", {middle, feed_forward(plain, node, middle, use_gelu->toBool())});
  replace(node, {normalised(plain, node, last, "2", width)});
  return true;
}

bool has_unused_outputs(const Node* node, size_t from) {
  const auto outputs = node->outputs();
  return std::all_of(outputs.begin() + static_cast<std::ptrdiff_t>(from), outputs.end(),
                     [](const Value* output) { return output->uses().empty(); });
}

// The length of all bags but the last, which begin where the offsets say, if they have one.
std::optional<int64_t> length_of_bags(const at::Tensor& offsets) {
  if (offsets.dim() != 1 || offsets.numel() < 2) return std::nullopt;
  const at::Tensor places = offsets.to(at::kLong).contiguous();
  const int64_t* begin = places.data_ptr<int64_t>();
  const int64_t length = begin[1];
  for (int64_t i = 0; i < places.numel(); ++i) {
    if (begin[i] != i * length) return std::nullopt;
  }
  return length > 0 ? std::optional(length) : std::nullopt;
}

// Bags of equal lengths: a last one of another length doesn't fit the shape, and is refused for that.
bool decompose_embedding_bag(Node* node) {
  enum Mode { kSum = 0, kMean = 1, kMax = 2 };
  const auto weight = known(node, "weight"), offsets = known(node, "offsets"), mode = known(node, "mode");
  const auto has_last = known(node, "include_last_offset");
  const bool pads = node->schema().overload_name() == "padding_idx" && !is_none(node, "padding_idx");
  if (!weight || !offsets || !mode || !has_last || has_last->toBool() || pads || !has_unused_outputs(node, 1))
    return false;
  const auto length = length_of_bags(offsets->toTensor());
  const bool is_weighted = !is_none(node, "per_sample_weights");
  if (!length || (is_weighted && mode->toInt() != kSum)) return false;
  Plain plain(node);
  Value* rows = plain.insert("embedding", {plain.constant(weight->toTensor().detach()), argument(node, "indices")});
  if (is_weighted) {
    rows = plain.insert("mul", {rows, plain.insert("unsqueeze", {argument(node, "per_sample_weights"), -1})});
  }
  const std::vector<int64_t> shape = {offsets->toTensor().numel(), *length, weight->toTensor().size(1)};
  Value* bags = plain.insert("reshape", {rows, c10::IValue(shape)});
  const char* reduction = mode->toInt() == kMax ? "amax" : mode->toInt() == kMean ? "mean" : "sum";
  replace(node, {plain.insert(reduction, {bags, c10::IValue(std::vector<int64_t>{1})})});
  return true;
}

// What embedding_bag calls, and decomposed programs name; none of its bags is padded if padding_idx is below 0.
bool decompose_inner_bag(Node* node) {
  const auto padding = known(node, "padding_idx");
  if (!padding || !has_unused_outputs(node, 1)) return false;
  Node* bag = node->owningGraph()->create(c10::Symbol::aten("embedding_bag"), node->inputs(), node->outputs().size());
  if (padding->toInt() < 0) bag->removeInput(bag->inputs().size() - 1);
  bag->insertBefore(node);
  bag->setSourceRange(node->sourceRange());
  bag->setScope(node->scope());
  node->replaceAllUsesWith(bag);
  node->destroy();
  decompose_embedding_bag(bag);
  return true;
}

// x^T W[k] y for each k: the products with x, times y for each k, and a sum of each k's, as linear layers of any rank.
bool decompose_bilinear(Node* node) {
  constexpr int64_t kLargestConstant = 1 << 22;  // elements of what says which products belong together
  const auto weight = known(node, "weight"), bias = known(node, "bias");
  if (!weight || !bias || weight->toTensor().scalar_type() != at::kFloat) return false;
  const at::Tensor w = weight->toTensor().detach();
  if (w.dim() != 3) return false;
  const int64_t count = w.size(0), first = w.size(1), second = w.size(2);
  if (count * second * std::max(second, count) > kLargestConstant) return false;
  const at::Tensor repeated = at::eye(second).repeat({count, 1});
  const at::Tensor summed = at::eye(count).repeat_interleave(second, 1).contiguous();
  const at::Tensor added = bias->isNone() ? at::zeros({count}) : bias->toTensor().detach();
  const at::Tensor none = at::zeros({count * second});
  Plain plain(node);
  Value* products = plain.linear(argument(node, "input1"), w.permute({0, 2, 1}).reshape({count * second, first}), none);
  Value* factors = plain.linear(argument(node, "input2"), repeated, none);
  replace(node, {plain.linear(plain.insert("mul", {products, factors}), summed, added)});
  return true;
}

// The axes of the product of two operands that the result or other operands still need.
std::string axes_of_product(const std::string& one, const std::string& other, const std::string& needed) {
  std::string axes;
  for (const char letter : one + other) {
    const bool is_new = axes.find(letter) == std::string::npos;
    if (is_new && needed.find(letter) != std::string::npos) axes += letter;
  }
  return axes;
}

constexpr const char* kDots = "...";

// The axis of the letter, from the end if it stands behind "...".
int64_t axis_of_letter(const std::string& letters, size_t place) {
  const size_t dots = letters.find(kDots);
  const auto index = static_cast<int64_t>(place);
  return dots != std::string::npos && place > dots ? index - static_cast<int64_t>(letters.size()) : index;
}

// The result of an equation without an arrow: the axes of "...", and the letters that come once, in order.
std::string implied_result(const std::vector<std::string>& operands) {
  std::map<char, int> counts;
  bool has_dots = false;
  for (const std::string& operand : operands) {
    for (const char letter : operand) ++counts[letter];
    has_dots = has_dots || operand.find(kDots) != std::string::npos;
  }
  std::string result = has_dots ? kDots : "";
  for (const auto& [letter, count] : counts) {
    if (letter != '.' && count == 1) result += letter;
  }
  return result;
}

// Takes the diagonal of the first two axes that have one letter; it becomes the last axis. False if there are none.
bool take_diagonal(Plain& plain, std::string& letters, Value*& tensor) {
  for (size_t i = 0; i < letters.size(); ++i) {
    const size_t again = letters[i] == '.' ? std::string::npos : letters.find(letters[i], i + 1);
    if (again == std::string::npos) continue;
    tensor = plain.insert("diagonal", {tensor, int64_t{0}, axis_of_letter(letters, i), axis_of_letter(letters, again)});
    const char letter = letters[i];
    letters.erase(again, 1);
    letters.erase(i, 1);
    letters += letter;
    return true;
  }
  return false;
}

// einsum of operands of which one has a letter twice: of their diagonals.
bool decompose_einsum_diagonals(Node* node) {
  const auto equation = known(node, "equation");
  Node* list = argument(node, "tensors")->node();
  if (!equation || list->kind() != c10::prim::ListConstruct) return false;
  std::string text = equation->toStringRef();
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const size_t arrow = text.find("->");
  std::vector<std::string> operands = split_text(text.substr(0, arrow), ',');
  if (operands.size() != list->inputs().size()) return false;
  const std::string result = arrow == std::string::npos ? implied_result(operands) : text.substr(arrow + 2);
  Plain plain(node);
  std::vector<Value*> tensors(list->inputs().begin(), list->inputs().end());
  bool any = false;
  std::string joined;
  for (size_t i = 0; i < operands.size(); ++i) {
    while (take_diagonal(plain, operands[i], tensors[i])) any = true;
    joined += (i == 0 ? "" : ",") + operands[i];
  }
  if (!any) return false;
  replace(node, {plain.insert("einsum", {c10::IValue(joined + "->" + result), plain.list(tensors)})});
  return true;
}

// einsum of three operands and more, from left to right as PyTorch does it.
bool decompose_einsum(Node* node) {
  if (decompose_einsum_diagonals(node)) return true;
  const auto equation = known(node, "equation");
  Node* list = argument(node, "tensors")->node();
  if (!equation || list->kind() != c10::prim::ListConstruct || list->inputs().size() < 3) return false;
  std::string text = equation->toStringRef();
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const size_t arrow = text.find("->");
  if (arrow == std::string::npos || text.find('.') != std::string::npos) return false;
  const std::string result = text.substr(arrow + 2);
  std::vector<std::string> axes = split_text(text.substr(0, arrow), ',');
  if (axes.size() != list->inputs().size()) return false;
  Plain plain(node);
  const auto product = [&](const std::string& one, Value* left, const std::string& other, Value* right,
                           const std::string& wanted) {
    Graph& graph = *node->owningGraph();
    Value* both = graph.insertNode(graph.createList(c10::TensorType::get(), {left, right}))->output();
    return plain.insert("einsum", {c10::IValue(one + "," + other + "->" + wanted), both});
  };
  Value* value = list->input(0);
  for (size_t i = 1; i < axes.size(); ++i) {
    std::string needed = result;
    for (size_t j = i + 1; j < axes.size(); ++j) needed += axes[j];
    const bool is_last = i + 1 == axes.size();
    const std::string wanted = is_last ? result : axes_of_product(axes[i - 1], axes[i], needed);
    value = product(axes[i - 1], value, axes[i], list->input(i), wanted);
    axes[i] = wanted;
  }
  replace(node, {value});
  return true;
}

// Numbers of repeats that are known.
bool decompose_repeat_interleave(Node* node) {
  if (node->schema().overload_name() != "self_Tensor") return false;
  const auto repeats = known(node, "repeats"), dim = known(node, "dim");
  if (!repeats || !dim) return false;
  const at::Tensor counts = repeats->toTensor().to(at::kLong);
  Plain plain(node);
  Value* self = argument(node, "self");
  if (counts.numel() == 1) {
    replace(node, {plain.insert("repeat_interleave", {self, counts.item<int64_t>(), *dim})});
    return true;
  }
  const at::Tensor places = at::repeat_interleave(counts);
  if (dim->isNone()) self = plain.insert("flatten", {self, 0, -1});
  const int64_t axis = dim->isNone() ? 0 : dim->toInt();
  replace(node, {plain.insert("index_select", {self, axis, plain.constant(places)})});
  return true;
}

// Products of quantised tensors, which NNAPI computes with floats.
bool decompose_quantized_matmul(Node* node) {
  Plain plain(node);
  Value* product = plain.insert("matmul", {plain.insert("dequantize", {argument(node, "qa")}),
                                           plain.insert("dequantize", {argument(node, "qb")})});
  const auto dtype = static_cast<int64_t>(at::kQUInt8);  // PyTorch takes no other
  replace(node, {plain.insert("quantize_per_tensor",
                              {product, argument(node, "scale"), argument(node, "zero_point"), dtype})});
  return true;
}

// A function inserts the plain operations before the node and removes it, or returns false and leaves all as it was.
struct Decomposition {
  const char* kind;
  bool (*replace)(Node*);
};

constexpr Decomposition kDecompositions[] = {
    {"aten::_embedding_bag", decompose_inner_bag},
    {"aten::_embedding_bag_forward_only", decompose_inner_bag},
    {"aten::_native_multi_head_attention", decompose_multi_head_attention},
    {"aten::_transformer_encoder_layer_fwd", decompose_encoder_layer},
    {"aten::bilinear", decompose_bilinear},
    {"aten::embedding_bag", decompose_embedding_bag},
    {"aten::einsum", decompose_einsum},
    {"aten::repeat_interleave", decompose_repeat_interleave},
    {"quantized::matmul", decompose_quantized_matmul},
};

}  // namespace

bool decompose(Node* node) {
  const std::string kind = node->kind().toQualString();
  for (const Decomposition& decomposition : kDecompositions) {
    if (kind == decomposition.kind) return decomposition.replace(node);
  }
  return false;
}

void decompose(const std::shared_ptr<Graph>& graph) {
  std::vector<Node*> nodes;
  for_each_node(*graph, [&](Node& node) { nodes.push_back(&node); });
  for (Node* node : nodes) decompose(node);
}

}  // namespace nnapi_convert
