// SPDX-License-Identifier: BSD-3-Clause
// Reads the arguments of one node by their names in the schema, and the types of its inputs, for a rule.
//
// A rule that can't take a node calls refuse(), which throws NodeRefused; the caller keeps the Refusal and continues
// with the next node. Arguments that the model computes from input sizes are Dims; a rule that needs a number calls
// integer() or similar, which refuses the node if the argument is no known number.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/ir/ir.h>

#include <exception>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/types/tensor_type.h"

namespace nnapi_convert {

using TorchNode = torch::jit::Node;
using TorchValue = torch::jit::Value;

// The type of a value of the graph: a tensor's type, the types of a list of tensors, or sizes that depend on the inputs
// (a single size is a list of one). TypeMap has no entries for constants of the graph.
using TensorTypes = std::vector<TensorType>;
using ValueType = std::variant<TensorType, Dims, TensorTypes>;
using TypeMap = std::unordered_map<const TorchValue*, ValueType>;

// Returns the type of a tensor; null for other values, and where it is unknown.
const TensorType* tensor_type_of(const TorchValue* value, const TypeMap& types);

class NodeRefused : public std::exception {
 public:
  explicit NodeRefused(Refusal refusal) : refusal_(std::move(refusal)), text_(refusal_.message()) {}
  const Refusal& refusal() const { return refusal_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  Refusal refusal_;
  std::string text_;
};

// Returns the node's line in the model's source, "model.py:12", of a line of PyTorch's with the user's that led to it,
// "model.py:12 (conv.py:459)"; else its scope; may be empty.
std::string source_of(const TorchNode& node);

// Reads a node's arguments. Names are those of the node's schema.
class OpArguments {
 public:
  OpArguments(const TorchNode& node, const TypeMap& types) : node_(node), types_(types) {}

  const TorchNode& node() const { return node_; }
  const TypeMap& types() const { return types_; }
  [[noreturn]] void refuse(std::string found, std::string needed = "", std::string hint = "") const;
  // Refuses unless `condition`.
  void require(bool condition, const std::string& found, const std::string& needed,
               const std::string& hint = "") const {
    if (!condition) refuse(found, needed, hint);
  }

  bool has(const std::string& name) const;      // the schema has such an argument
  bool is_none(const std::string& name) const;  // the argument is None
  // Returns the type of a tensor argument, constant or not.
  TensorType tensor(const std::string& name) const;
  // Returns the types of a list of tensors.
  TensorTypes tensors(const std::string& name) const;
  // Returns the types of a list of tensors that another operator made; null for any other argument.
  const TensorTypes* tensor_list(const std::string& name) const;
  // Returns the elements of a list that a ListConstruct makes; empty for a constant list.
  std::vector<const TorchValue*> elements(const std::string& name) const;
  // Returns the tensors of a list of constants; refuses a list with a tensor that is computed at run time.
  std::vector<at::Tensor> constants(const std::string& name) const;
  // Returns a constant tensor; refuses a tensor that is computed at run time.
  at::Tensor constant(const std::string& name) const;
  // Returns a constant float32 tensor; refuses other dtypes, and a tensor that is computed at run time.
  at::Tensor float_constant(const std::string& name) const;
  bool is_constant(const std::string& name) const;
  // Return constant arguments; refuse arguments that are computed at run time.
  int64_t integer(const std::string& name) const;
  double number(const std::string& name) const;
  bool boolean(const std::string& name) const;
  std::string string(const std::string& name) const;
  std::vector<int64_t> integers(const std::string& name) const;
  // Returns `size` integers: a constant list, where one number stands for `size` equal ones, and an empty list for
  // `size` times `fallback`.
  std::vector<int64_t> integers(const std::string& name, size_t size, int64_t fallback) const;
  // Return sizes, which may depend on the inputs' sizes.
  Dims sizes(const std::string& name) const;
  Dim size(const std::string& name) const;
  // Returns a constant argument of any type.
  c10::IValue value(const std::string& name) const;
  const TorchValue* input(const std::string& name) const;
  // Returns the type of an element of a list argument.
  TensorType type_of(const TorchValue* value) const;

 private:
  c10::Scalar single_number(const std::string& name, const at::Tensor& tensor) const;

  const TorchNode& node_;
  const TypeMap& types_;
};

// Returns the type of a constant of the graph.
TensorType type_of_constant(const at::Tensor& tensor);

}  // namespace nnapi_convert
