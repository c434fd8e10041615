// SPDX-License-Identifier: BSD-3-Clause
// Which node of a graph reads a value last, so that a program can reuse the value's register.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace nnapi_convert {

class Lifetimes {
 public:
  explicit Lifetimes(torch::jit::Graph& graph);

  // The value that this one is, seen through casts.
  const torch::jit::Value* root(const torch::jit::Value* value) const;
  bool is_read(const torch::jit::Value* value) const { return last_.count(value) != 0; }
  // A list that only calls of NNAPI read: the call has its elements.
  bool is_part_of_call(const torch::jit::Node& node) const { return parts_.count(&node) != 0; }
  // The values that nothing reads after the node: its own results that nothing reads among them.
  std::vector<const torch::jit::Value*> last_read_by(const torch::jit::Node& node) const;
  // The values made in the block that the block's end still reads, and its own inputs.
  std::vector<const torch::jit::Value*> left_by(const torch::jit::Block& block) const;

 private:
  void visit(const torch::jit::Block& block);
  void read(const torch::jit::Value* value, const torch::jit::Node& by);

  std::unordered_map<const torch::jit::Value*, const torch::jit::Node*> last_;
  std::unordered_map<const torch::jit::Node*, std::vector<const torch::jit::Value*>> ends_;
  std::unordered_set<const torch::jit::Node*> parts_;
};

}  // namespace nnapi_convert
