// SPDX-License-Identifier: BSD-3-Clause
// The structure of forward's arguments and results: tuples, lists and dicts of values, as PyTorch's pytree.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <torch/csrc/jit/ir/ir.h>

#include <string>
#include <string_view>
#include <vector>

namespace nnapi_convert {

struct ValueTree {
  enum class Kind { kLeaf, kTuple, kList, kDict };
  Kind kind = Kind::kLeaf;
  std::vector<ValueTree> elements;
  std::vector<std::string> keys;  // of the elements, for kDict
  std::string class_name;         // of an object whose fields became a dict; else empty
};

// Reads a treespec in JSON. An object of a class whose fields the text names is a dict of them. Throws ConvertError:
// kBadFile for what is no treespec, kNotConvertible for other classes.
ValueTree read_tree(std::string_view text);

size_t leaf_count(const ValueTree& tree);

// Returns the tree's type; takes its leaves' types from `leaves`, from `next` on. Lists and dicts of values of several
// types are tuples in TorchScript.
c10::TypePtr type_of(const ValueTree& tree, const std::vector<c10::TypePtr>& leaves, size_t& next);
torch::jit::Value* put_together(torch::jit::Graph& graph, const ValueTree& tree,
                                const std::vector<torch::jit::Value*>& leaves, size_t& next);
// Adds the leaves of `value`, which is of the type that type_of() gives, to `leaves`.
void take_apart(torch::jit::Graph& graph, const ValueTree& tree, torch::jit::Value* value,
                std::vector<torch::jit::Value*>& leaves);
// Returns a sample of the tree, given in the form that it has in Python, as a value of `type`. Throws ConvertError
// (kBadFile) where it is of another structure.
c10::IValue sample_of(const ValueTree& tree, const c10::TypePtr& type, const c10::IValue& value);

}  // namespace nnapi_convert
