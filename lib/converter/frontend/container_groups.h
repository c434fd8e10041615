// SPDX-License-Identifier: BSD-3-Clause
// Finds which lists, dicts, tuples and optionals of a graph may hold the same tensors.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace nnapi_convert {

bool is_plain_tensor(const torch::jit::Value& value);

// True for a list, dict, tuple or optional of tensors.
bool is_container_of_tensors(const torch::jit::Value& value);

// True for a tensor and for a container of tensors.
bool has_tensors(const torch::jit::Value& value);

// Returns the values that become the value: results of branches, and what a loop carries; none for other values.
std::vector<const torch::jit::Value*> flowing_into(const torch::jit::Value& value);

// A value that is put into a container, and the constant string that is its key in a dict.
struct Content {
  const torch::jit::Value* value;
  std::optional<std::string> key;
};

// Puts containers into groups: a tensor that is put into one container of a group may be taken from another one.
class ContainerGroups {
 public:
  explicit ContainerGroups(torch::jit::Graph& graph);

  // Returns the values that are put into containers of the group: tensors, and containers that are arguments or
  // attributes of the graph or constants.
  const std::vector<Content>& contents(const torch::jit::Value* container);

  // Returns those of the group's contents that the node may take from its first argument, a container: the ones of its
  // key, if it is constant, and the ones whose key isn't known.
  std::vector<const torch::jit::Value*> taken_by(const torch::jit::Node& node);

  // Adds the values whose memory the tensor, or a tensor in the container, may be: results of operators that make new
  // memory, constants, arguments and attributes.
  void add_origins(const torch::jit::Value* value, std::unordered_set<const torch::jit::Value*>& origins);

  bool is_same_group(const torch::jit::Value* container, const torch::jit::Value* other);

  // True if an operator changes a container of the group in place.
  bool is_changed(const torch::jit::Value* container);

 private:
  struct Group {
    std::vector<Content> contents;
    bool is_changed = false;
  };

  const torch::jit::Value* root_of(const torch::jit::Value* container);
  Group& group_of(const torch::jit::Value* container) { return groups_[root_of(container)]; }
  void put(Content content, const torch::jit::Value* container);
  void add_node(const torch::jit::Node& node);
  void add_flow(Content from, const torch::jit::Value* into);

  std::unordered_map<const torch::jit::Value*, const torch::jit::Value*> parents_;
  std::unordered_map<const torch::jit::Value*, Group> groups_;
};

}  // namespace nnapi_convert
