// SPDX-License-Identifier: BSD-3-Clause
// Groups the nodes of one block (the graph's own, or one of a branch or loop) into items, and the items into steps that
// NNAPI or the CPU runs.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lib/converter/plan/partition_items.h"

namespace nnapi_convert {

// The key of a step: its number, and the rows that all items of an NNAPI step have. Steps of NNAPI have even numbers,
// steps of the CPU odd ones. Where some items keep float32, their steps have the numbers 2, 6, 10 and so on, and the
// other steps of NNAPI the numbers 0, 4, 8 and so on.
using StepKey = std::pair<int, std::optional<OpenSize>>;
using StepMembers = std::vector<size_t>;  // numbers of items

inline bool is_nnapi_step(const StepKey& key) {
  return key.first % 2 == 0;
}

class BlockItems {
 public:
  BlockItems(torch::jit::Block* block, std::vector<PartitionItem> items) : block_(block), items_(std::move(items)) {}

  torch::jit::Block* block() const { return block_; }
  const std::vector<PartitionItem>& items() const { return items_; }
  const std::map<StepKey, StepMembers>& steps() const { return steps_; }

  // Tells which items keep float32, by the names of values that they make.
  void keep_float32(const std::set<std::string>& values);
  // Returns whether the items of a step of NNAPI keep float32.
  bool keeps_float32(const StepMembers& members) const { return items_[members[0]].keeps_float32; }
  // Puts each item into the earliest step after the steps of the items that it needs.
  void place();
  std::vector<torch::jit::Node*> nodes_of(const StepMembers& members) const;
  // Returns the known multiply-adds of the items.
  int64_t macs_of(const StepMembers& members) const;
  // Returns how many items have an unknown number of multiply-adds.
  size_t uncounted_of(const StepMembers& members) const;
  // Returns how many items have multiply-adds: convolutions, matrix products and similar operations.
  size_t products_of(const StepMembers& members) const;
  // Returns the size of the rows of a step of NNAPI; nothing for a step without rows.
  const std::optional<OpenSize>& rows_of(const StepMembers& members) const { return items_[members[0]].rows; }
  // True if the CPU can't run one of the items.
  bool is_pinned(const StepMembers& members) const;
  // Returns the items whose source lines are those of the refused operations; all items if no line matches.
  StepMembers refused_members(const StepMembers& members, const std::set<std::string>& sources) const;
  // Returns the item that holds the node; all items if none does.
  StepMembers members_with(const StepMembers& members, const torch::jit::Node& node) const;
  // Returns the items whose operations a device refuses: of the items with the source line, those that the refused
  // operation's values are made of; all of these items if none is found so.
  StepMembers refused_members(const StepMembers& members, const std::vector<nnapi::DeviceRefusal>& refusals) const;
  // Moves the items to the CPU for the reason `why`. Throws ConvertError (kNotConvertible) if the CPU can't run one.
  void keep_on_cpu(const StepMembers& members, const std::string& why);

 private:
  bool fits(const PartitionItem& item, int step) const;
  std::set<size_t> items_behind(const nnapi::DeviceRefusal& refusal, const std::set<size_t>& members) const;

  torch::jit::Block* block_;
  std::vector<PartitionItem> items_;
  bool any_keeps_float32_ = false;
  std::map<StepKey, StepMembers> steps_;
};

}  // namespace nnapi_convert
