// SPDX-License-Identifier: BSD-3-Clause
// Finds the node of a graph that reads a value last, so that a program can reuse the value's register.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace nnapi_convert {

class Lifetimes {
 public:
  explicit Lifetimes(torch::jit::Graph& graph);

  // Returns the value that this one is, seen through casts.
  const torch::jit::Value* root(const torch::jit::Value* value) const;
  bool is_read(const torch::jit::Value* value) const { return last_.count(value) != 0; }
  // True for a node that makes a list which only calls of NNAPI read: the call takes the list's elements.
  bool is_part_of_call(const torch::jit::Node& node) const { return parts_.count(&node) != 0; }
  // Returns the values that nothing reads after the node, its own unread results among them.
  std::vector<const torch::jit::Value*> last_read_by(const torch::jit::Node& node) const;
  // Returns the values made in the block that the block's end still reads, and the block's unread inputs.
  std::vector<const torch::jit::Value*> left_by(const torch::jit::Block& block) const;

 private:
  void visit(const torch::jit::Block& block);
  void read(const torch::jit::Value* value, const torch::jit::Node& by);

  std::unordered_map<const torch::jit::Value*, const torch::jit::Node*> last_;
  std::unordered_map<const torch::jit::Node*, std::vector<const torch::jit::Value*>> ends_;
  std::unordered_set<const torch::jit::Node*> parts_;
};

}  // namespace nnapi_convert
