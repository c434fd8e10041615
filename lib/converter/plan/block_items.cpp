// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/plan/block_items.h"

#include <algorithm>
#include <set>

#include "lib/base/error.h"

namespace nnapi_convert {
namespace {

// Returns the first step that an item may have after item `first`, in step `step`, which it needs.
int step_after(const PartitionItem& first, int step, const PartitionItem& item) {
  const bool are_on_nnapi = !first.reason && !item.reason;
  return are_on_nnapi && first.rows != item.rows ? step + 1 : step;
}

}  // namespace

void BlockItems::keep_float32(const std::set<std::string>& values) {
  const auto makes_one = [&](const torch::jit::Node* node) {
    return std::any_of(node->outputs().begin(), node->outputs().end(),
                       [&](const torch::jit::Value* value) { return values.count(value->debugName()) != 0; });
  };
  for (PartitionItem& item : items_) {
    item.keeps_float32 = std::any_of(item.nodes.begin(), item.nodes.end(), makes_one);
    any_keeps_float32_ = any_keeps_float32_ || item.keeps_float32;
  }
}

bool BlockItems::fits(const PartitionItem& item, int step) const {
  if (item.reason) return step % 2 != 0;
  if (!any_keeps_float32_) return step % 2 == 0;
  return step % 4 == (item.keeps_float32 ? 2 : 0);
}

void BlockItems::place() {
  steps_.clear();
  std::vector<int> steps(items_.size());
  for (size_t i = 0; i < items_.size(); ++i) {
    const bool is_nnapi = !items_[i].reason;
    int step = is_nnapi ? 0 : -1;
    std::vector<size_t> needs = items_[i].needs;
    if (!is_nnapi) needs.insert(needs.end(), items_[i].number_needs.begin(), items_[i].number_needs.end());
    for (const size_t need : needs) step = std::max(step, step_after(items_[need], steps[need], items_[i]));
    while (!fits(items_[i], step)) ++step;  // ends: one of four numbers fits
    steps[i] = step;
    steps_[{step, is_nnapi ? items_[i].rows : std::nullopt}].push_back(i);
  }
}

std::vector<torch::jit::Node*> BlockItems::nodes_of(const StepMembers& members) const {
  std::vector<torch::jit::Node*> nodes;
  for (const size_t member : members)
    nodes.insert(nodes.end(), items_[member].nodes.begin(), items_[member].nodes.end());
  return nodes;
}

int64_t BlockItems::macs_of(const StepMembers& members) const {
  Count sum = 0;
  for (const size_t member : members) sum += items_[member].macs.value_or(0);
  return sum.value_or_most();
}

size_t BlockItems::uncounted_of(const StepMembers& members) const {
  return static_cast<size_t>(
      std::count_if(members.begin(), members.end(), [&](size_t member) { return !items_[member].macs.is_known(); }));
}

size_t BlockItems::products_of(const StepMembers& members) const {
  return static_cast<size_t>(
      std::count_if(members.begin(), members.end(), [&](size_t member) { return items_[member].multiplies(); }));
}

bool BlockItems::is_pinned(const StepMembers& members) const {
  return std::any_of(members.begin(), members.end(), [&](size_t member) { return items_[member].is_pinned; });
}

StepMembers BlockItems::refused_members(const StepMembers& members, const std::set<std::string>& sources) const {
  StepMembers result;
  for (const size_t member : members) {
    const bool is_refused = sources.count(source_of(*items_[member].nodes[0])) != 0;
    if (is_refused && !items_[member].is_pinned) result.push_back(member);
  }
  return result.empty() ? members : result;
}

StepMembers BlockItems::members_with(const StepMembers& members, const torch::jit::Node& node) const {
  for (const size_t member : members) {
    const std::vector<torch::jit::Node*>& nodes = items_[member].nodes;
    const bool is_found = std::find(nodes.begin(), nodes.end(), &node) != nodes.end();
    if (is_found && !items_[member].is_pinned) return {member};
  }
  return members;
}

// Goes back from the items that make the refused operation's values to the nearest ones with its source line.
std::set<size_t> BlockItems::items_behind(const nnapi::DeviceRefusal& refusal, const std::set<size_t>& members) const {
  const auto makes_one = [&](const torch::jit::Node* node) {
    return std::any_of(node->outputs().begin(), node->outputs().end(), [&](const torch::jit::Value* value) {
      return std::find(refusal.values.begin(), refusal.values.end(), value->debugName()) != refusal.values.end();
    });
  };
  std::vector<size_t> open;
  for (const size_t member : members) {
    if (std::any_of(items_[member].nodes.begin(), items_[member].nodes.end(), makes_one)) open.push_back(member);
  }
  std::set<size_t> seen(open.begin(), open.end()), found;
  while (!open.empty()) {
    const size_t item = open.back();
    open.pop_back();
    if (source_of(*items_[item].nodes[0]) == refusal.source) {
      if (!items_[item].is_pinned) found.insert(item);
      continue;
    }
    for (const size_t need : items_[item].needs) {
      if (members.count(need) != 0 && seen.insert(need).second) open.push_back(need);
    }
  }
  return found;
}

StepMembers BlockItems::refused_members(const StepMembers& members,
                                        const std::vector<nnapi::DeviceRefusal>& refusals) const {
  const std::set<size_t> all(members.begin(), members.end());
  std::set<size_t> refused;
  std::set<std::string> other_sources;
  for (const nnapi::DeviceRefusal& refusal : refusals) {
    const std::set<size_t> found = items_behind(refusal, all);
    refused.insert(found.begin(), found.end());
    if (found.empty()) other_sources.insert(refusal.source);
  }
  if (!other_sources.empty()) {
    const StepMembers more = refused_members(members, other_sources);
    refused.insert(more.begin(), more.end());
  }
  return {refused.begin(), refused.end()};
}

void BlockItems::keep_on_cpu(const StepMembers& members, const std::string& why) {
  for (const size_t member : members) {
    PartitionItem& item = items_[member];
    if (item.is_pinned) throw ConvertError(ExitCode::kNotConvertible, why);
    item.reason = Refusal{source_of(*item.nodes[0]), item.nodes[0]->kind().toQualString(), why, "", ""};
  }
}

}  // namespace nnapi_convert
