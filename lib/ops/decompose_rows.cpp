// SPDX-License-Identifier: BSD-3-Clause
// Decomposes operators that pick or repeat rows of a table at constant places.
#include <ATen/ATen.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "lib/ops/decompositions.h"
#include "lib/ops/plain_calls.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Value;

bool has_unused_outputs(const Node* node, size_t from) {
  const auto outputs = node->outputs();
  return std::all_of(outputs.begin() + static_cast<std::ptrdiff_t>(from), outputs.end(),
                     [](const Value* output) { return output->uses().empty(); });
}

// Returns the length of the bags that begin at these offsets, if all but the last have equal lengths.
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

// Decomposes embedding_bag of bags of equal lengths. If the last bag has another length, the reshape doesn't fit and is
// refused.
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
  PlainCalls plain(node);
  Value* rows = plain.insert("embedding", {plain.constant(weight->toTensor().detach()), argument(node, "indices")});
  if (is_weighted) {
    rows = plain.insert("mul", {rows, plain.insert("unsqueeze", {argument(node, "per_sample_weights"), -1})});
  }
  const std::vector<int64_t> shape = {offsets->toTensor().numel(), *length, weight->toTensor().size(1)};
  Value* bags = plain.insert("reshape", {rows, c10::IValue(shape)});
  const char* reduction = mode->toInt() == kMax ? "amax" : mode->toInt() == kMean ? "mean" : "sum";
  replace_by(node, {plain.insert(reduction, {bags, c10::IValue(std::vector<int64_t>{1})})});
  return true;
}

// Decomposes _embedding_bag, which embedding_bag calls and decomposed programs contain. A padding_idx below 0 means
// none.
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

// Decomposes repeat_interleave with constant numbers of repeats.
bool decompose_repeat_interleave(Node* node) {
  if (node->schema().overload_name() != "self_Tensor") return false;
  const auto repeats = known(node, "repeats"), dim = known(node, "dim");
  if (!repeats || !dim) return false;
  const at::Tensor counts = repeats->toTensor().to(at::kLong);
  PlainCalls plain(node);
  Value* self = argument(node, "self");
  if (counts.numel() == 1) {
    replace_by(node, {plain.insert("repeat_interleave", {self, counts.item<int64_t>(), *dim})});
    return true;
  }
  const at::Tensor places = at::repeat_interleave(counts);
  if (dim->isNone()) self = plain.insert("flatten", {self, 0, -1});
  const int64_t axis = dim->isNone() ? 0 : dim->toInt();
  replace_by(node, {plain.insert("index_select", {self, axis, plain.constant(places)})});
  return true;
}

}  // namespace

Decompositions row_decompositions() {
  return {
      {"aten::_embedding_bag", decompose_inner_bag},
      {"aten::_embedding_bag_forward_only", decompose_inner_bag},
      {"aten::embedding_bag", decompose_embedding_bag},
      {"aten::embedding_bag.padding_idx", decompose_embedding_bag},
      {"aten::repeat_interleave.self_Tensor", decompose_repeat_interleave},
  };
}

}  // namespace nnapi_convert
