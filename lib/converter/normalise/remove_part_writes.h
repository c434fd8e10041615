// y[:, 0] = 1, y[2:4] *= 2: what changes a part of a tensor in place becomes a new tensor.
#pragma once

#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/ir/ir.h>

#include <unordered_map>
#include <vector>

namespace nnapi_convert {

// The change of a part of a tensor that `node`, at the top of its graph, makes.
class PartWrite {
 public:
  explicit PartWrite(torch::jit::Node* node);

  // The tensor of which the node's input is a part by way of views.
  torch::jit::Value* whole() const { return whole_; }
  // True if each value that shares the whole's memory and is read after the node is a view that can be made again.
  bool is_removable(const torch::jit::AliasDb& aliases);
  // After is_removable(): puts `functional`, an operator without the change, in the node's place, writes its result
  // into a copy of the whole, and makes the later reads read that. `functional` has the node's inputs.
  void remove(c10::Symbol functional);

 private:
  torch::jit::Value* remade(torch::jit::Value* view);

  torch::jit::Node* node_;
  torch::jit::Value* whole_;
  std::vector<torch::jit::Value*> later_;  // made before the node and read after it
  std::unordered_map<torch::jit::Value*, torch::jit::Value*> changed_;
};

}  // namespace nnapi_convert
