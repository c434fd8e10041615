// What a rule reads of one node: its arguments by schema name, and the types of its inputs.
//
// A rule that can't go on calls refuse(), which throws NodeRefused; the caller keeps the Refusal and goes on with the
// next node. Arguments that the model computes from input sizes are Dims; a rule that needs a number asks for it and
// refuses otherwise.
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

// What is known of a value of the graph: a tensor's type, the types of a list of tensors, or sizes that depend on the
// inputs (a single size is a list of one). Values that are constants of the graph are not in the map.
using TensorTypes = std::vector<TensorType>;
using ValueType = std::variant<TensorType, Dims, TensorTypes>;
using TypeMap = std::unordered_map<const TorchValue*, ValueType>;

class NodeRefused : public std::exception {
 public:
  explicit NodeRefused(Refusal refusal) : refusal_(std::move(refusal)), text_(refusal_.message()) {}
  const Refusal& refusal() const { return refusal_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  Refusal refusal_;
  std::string text_;
};

// The node's line in the model's source, "model.py:12"; else its scope; may be empty.
std::string source_of(const TorchNode& node);

// Reading a node's arguments. Names are those of the node's schema.
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
  // The type of a tensor argument, constant or not.
  TensorType tensor(const std::string& name) const;
  // The types of a list of tensors.
  TensorTypes tensors(const std::string& name) const;
  // The same for a list that another operator made; null for any other argument.
  const TensorTypes* tensor_list(const std::string& name) const;
  // The values of a list that is made in place; empty for a constant list.
  std::vector<const TorchValue*> elements(const std::string& name) const;
  // The tensors of a list of constants; refuses a list with one that is computed at run time.
  std::vector<at::Tensor> constants(const std::string& name) const;
  // A constant tensor; refuses one that is computed at run time.
  at::Tensor constant(const std::string& name) const;
  // The same; refuses another dtype than float32.
  at::Tensor float_constant(const std::string& name) const;
  bool is_constant(const std::string& name) const;
  // Numbers known now.
  int64_t integer(const std::string& name) const;
  double number(const std::string& name) const;
  bool boolean(const std::string& name) const;
  std::string string(const std::string& name) const;
  std::vector<int64_t> integers(const std::string& name) const;
  // The same where a list of one or none stands for `size` equal numbers (`fallback` if empty).
  std::vector<int64_t> integers(const std::string& name, size_t size, int64_t fallback) const;
  // Sizes, which may depend on the inputs.
  Dims sizes(const std::string& name) const;
  Dim size(const std::string& name) const;
  // Any constant argument.
  c10::IValue value(const std::string& name) const;
  const TorchValue* input(const std::string& name) const;
  // The type of a value that an argument's list holds.
  TensorType type_of(const TorchValue* value) const;

 private:
  c10::Scalar single_number(const std::string& name, const at::Tensor& tensor) const;

  const TorchNode& node_;
  const TypeMap& types_;
};

// The type of a constant of the graph.
TensorType type_of_constant(const at::Tensor& tensor);

}  // namespace nnapi_convert
