// SPDX-License-Identifier: BSD-3-Clause
// Makes in-place changes of a part of a tensor (y[:, 0] = 1, y[2:4] *= 2) functional: the result is a new tensor.
#pragma once

#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/ir/ir.h>

#include <unordered_map>
#include <vector>

namespace nnapi_convert {

// The in-place change of a part of a tensor by `node`, a node in its graph's own block.
class PartWrite {
 public:
  explicit PartWrite(torch::jit::Node* node);

  // Returns the tensor of which the node's input is a view.
  torch::jit::Value* whole() const { return whole_; }
  // True if each value that shares the whole tensor's memory and is read after the node is a view that can be remade.
  bool is_removable(const torch::jit::AliasDb& aliases);
  // Replaces the node by its functional form, writes the result into a copy of the whole tensor, and makes later
  // readers read the copy. Requires is_removable().
  void remove();

 private:
  torch::jit::Value* remade(torch::jit::Value* view);

  torch::jit::Node* node_;
  torch::jit::Value* whole_;
  std::vector<torch::jit::Value*> later_;  // made before the node and read after it
  std::unordered_map<torch::jit::Value*, torch::jit::Value*> changed_;
};

}  // namespace nnapi_convert
