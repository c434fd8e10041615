// What a partition takes a graph's own nodes for, or those of a branch or loop: items, in steps of NNAPI and the CPU.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/converter/partition/partition_items.h"

namespace nnapi_convert {

// Items of one step that run together: those of NNAPI have the same rows, or none. Steps of both kinds take turns:
// those of NNAPI have even numbers, those of the CPU odd ones.
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

  // Puts each item into the earliest step that what it needs allows.
  void place();
  std::vector<torch::jit::Node*> nodes_of(const StepMembers& members) const;
  // Multiply-adds, as far as they are known.
  int64_t macs_of(const StepMembers& members) const;
  // How many of them have multiply-adds that aren't known.
  size_t uncounted_of(const StepMembers& members) const;
  // How many of them multiply: convolutions, products and their like.
  size_t products_of(const StepMembers& members) const;
  // The size along which a step of NNAPI goes row by row.
  const std::optional<OpenSize>& rows_of(const StepMembers& members) const { return items_[members[0]].rows; }
  // True if the CPU can't run one of them.
  bool is_pinned(const StepMembers& members) const;
  // Those that made what a device refuses, as source lines tell; all where they don't.
  StepMembers refused_members(const StepMembers& members, const std::vector<nnapi::DeviceRefusal>& refusals) const;
  // Throws ConvertError (kNotConvertible) where the CPU can't run one of them.
  void keep_on_cpu(const StepMembers& members, const std::string& why);

 private:
  torch::jit::Block* block_;
  std::vector<PartitionItem> items_;
  std::map<StepKey, StepMembers> steps_;
};

}  // namespace nnapi_convert
