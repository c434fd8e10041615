// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/memory_reads.h"

#include <algorithm>
#include <unordered_set>

namespace nnapi_convert {
namespace {

using Kinds = std::unordered_set<c10::Symbol>;

Kinds reading_kinds() {
  Kinds kinds;
  for (const char* name : {"as_strided", "as_strided_", "as_strided_copy", "is_contiguous",
                           "is_non_overlapping_and_dense", "is_set_to", "is_strides_like_format", "resize", "resize_",
                           "resize_as", "resize_as_", "set", "set_", "storage_offset", "stride"}) {
    kinds.insert(c10::Symbol::aten(name));
  }
  return kinds;
}

Kinds forgetting_kinds() {
  Kinds kinds;
  for (const char* name : {"dim", "len", "numel", "size"}) kinds.insert(c10::Symbol::aten(name));
  for (const char* name : {"torchvision::roi_align", "torchvision::roi_pool"}) {
    kinds.insert(c10::Symbol::fromQualString(name));
  }
  return kinds;
}

bool any_reads(const torch::jit::Block& block) {
  return std::any_of(block.nodes().begin(), block.nodes().end(), [](const torch::jit::Node* node) {
    const auto blocks = node->blocks();
    return reads_memory_order(*node) ||
           std::any_of(blocks.begin(), blocks.end(), [](const torch::jit::Block* inner) { return any_reads(*inner); });
  });
}

}  // namespace

bool reads_memory_order(const torch::jit::Node& node) {
  static const Kinds kinds = reading_kinds();
  return kinds.count(node.kind()) != 0;
}

bool forgets_memory_order(const torch::jit::Node& node) {
  static const Kinds kinds = forgetting_kinds();
  return kinds.count(node.kind()) != 0;
}

bool reads_memory_order(const torch::jit::Graph& graph) {
  return any_reads(*graph.block());
}

}  // namespace nnapi_convert
