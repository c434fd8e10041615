// SPDX-License-Identifier: BSD-3-Clause
// A node of an exported program's graph, and the values that it reads and makes by their names.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/ir/ir.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace nnapi_convert {

using TorchValues = std::vector<torch::jit::Value*>;

// The knowledge about the values of a quantised program, by their names.
struct QuantisedValues {
  std::map<std::string, at::Tensor> weights;              // constants
  std::map<std::string, torch::jit::Value*> bytes;        // the quint8 tensor whose integers the value has
  std::map<std::string, torch::jit::Value*> whole;        // the value's integers as floats
  std::map<std::string, torch::jit::Value*> before_call;  // rounded anew in each call: what it was before
  std::set<std::string> of_call;                          // scales and zero points that each call computes anew
};

// A tensor in a function that torch.vmap runs: its first axes are those of the levels of torch.vmap around it, the
// outermost first. A tensor that all lanes of a level share has size 1 there.
struct BatchedTensor {
  int64_t levels;  // number of the levels' axes
  int64_t rank;    // number of the other axes, which the function sees
};

struct BatchedValues {
  int64_t open_levels = 0;  // levels of torch.vmap around the node that is read
  std::map<std::string, BatchedTensor> tensors;
};

// The values of one graph of an exported program, by name. A graph within that graph has a scope of its own.
struct ExportScope {
  std::map<std::string, torch::jit::Value*> values;
  QuantisedValues quantised = {};
  BatchedValues batched = {};

  // Throw ConvertError: kBadFile for a name that nothing made before, or that was made before; kNotConvertible for what
  // each call rounds anew.
  torch::jit::Value* at(const std::string& name) const;
  void add(const std::string& name, torch::jit::Value* value);
};

// A node that is being read: its operator's name without "torch.ops.", and where in the model's source it comes from.
struct ExportNode {
  const nlohmann::json& json;
  std::string target;                             // "aten.conv2d.default", "_operator.add"
  std::string where;                              // "model.py:12"; may be empty
  const nlohmann::json* tensor_values = nullptr;  // what the graph says about its tensors; may be null
};

// Puts a node's results into the scope by the names that the program gives them: one value each, or one list of all.
void name_results(const ExportNode& node, const TorchValues& results, ExportScope& scope);

// Returns a prefix for messages, such as "model.py:12: "; empty if the node has no source line.
std::string place_of(const ExportNode& node);
[[noreturn]] void refuse_node(const ExportNode& node, const std::string& why);

}  // namespace nnapi_convert
