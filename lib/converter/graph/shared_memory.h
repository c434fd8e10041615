// SPDX-License-Identifier: BSD-3-Clause
// Says which tensors of a graph may share memory that a node changes in place. LibTorch's alias analysis takes all
// tensors that were ever in a list, dict or attribute for one; here each list and each attribute has its own.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <cstddef>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace nnapi_convert {

// Sorts the values of a graph into classes: values that may share memory, or that hold tensors that may, are in one
// class. The order of nodes doesn't matter, so that the classes also hold for state that stays between calls.
class SharedMemory {
 public:
  // The graph is a method of the module, whose attributes tell which of them share memory.
  SharedMemory(torch::jit::Graph& graph, const torch::jit::Module& module);

  // True if a node may change, in place, the memory of the tensor or of a tensor that the list, dict or object holds.
  bool is_written(const torch::jit::Value& value) const;

 private:
  void read(const torch::jit::Node& node);
  void read_access(const torch::jit::Node& node);
  void read_blocks(const torch::jit::Node& node);
  void read_operator(const torch::jit::Node& node, const c10::FunctionSchema& schema);
  void join_attribute(const std::string& name, const c10::IValue& value);
  void join_constant(const torch::jit::Node& node);
  void join_all(const torch::jit::Node& node);
  void join(const torch::jit::Value& one, const torch::jit::Value& other);
  void join(size_t one, size_t other);
  void mark_written(const torch::jit::Value& value);
  size_t number_of(const torch::jit::Value& value);
  // Returns the key's number, and gives a new key the next number.
  template <typename Key>
  size_t number_in(std::unordered_map<Key, size_t>& numbers, const Key& key);
  size_t class_of(size_t number);

  const torch::jit::Module& module_;
  std::unordered_map<const torch::jit::Value*, size_t> values_;
  std::unordered_map<std::string, size_t> attributes_;  // by their last name: attributes of one name may be one
  std::unordered_map<const c10::StorageImpl*, size_t> storages_;
  std::vector<size_t> parents_;  // of numbers; the number that is its own parent names the class
  std::vector<size_t> written_;
  std::unordered_set<size_t> written_classes_;
};

}  // namespace nnapi_convert
