// SPDX-License-Identifier: BSD-3-Clause
// Keeps the weights out of freezing. LibTorch's freezing makes all attributes constants and then looks for equal
// constants by comparing each tensor with each other one: 2,000 small layers took 11 seconds.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <string>
#include <vector>

#include "lib/converter/graph/attribute_path.h"

namespace nnapi_convert {

class WeightsAside {
 public:
  // Puts a node that stands for the weight in the place of each constant tensor, and of each read of a tensor attribute
  // of `module`. Leaves out tensors that `graph` may change, tensors that share memory with such an attribute or with
  // one of the paths `kept`, and graphs with calls or with changes of objects: these are freezing's. `graph` is the
  // module's inlined forward; it has one more input for each weight afterwards.
  WeightsAside(const torch::jit::Module& module, const std::shared_ptr<torch::jit::Graph>& graph,
               const std::vector<AttributePath>& kept);

  // Puts constants in the place of those nodes, computes the nodes that have only constants as inputs, and removes the
  // added inputs. `graph` is that of the frozen module.
  void put_back(std::shared_ptr<torch::jit::Graph> graph) const;

  size_t size() const { return weights_.size(); }

 private:
  struct Weight {
    at::Tensor tensor;
    std::string name;  // of the value in the graph; may be empty
  };
  std::vector<Weight> weights_;
};

}  // namespace nnapi_convert
