// SPDX-License-Identifier: BSD-3-Clause
// Describes the arguments of forward, and the tensors within lists, tuples and dicts.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

#include <optional>
#include <string>
#include <vector>

namespace nnapi_convert {

// One argument or a part of it. kLeaf: a value that goes to the graph as it is. kList, kTuple, kDict: a container of
// known size and keys. kNone: an optional value that is None. kBound: a value that is always the same.
struct ArgumentTree {
  enum class Kind { kLeaf, kList, kTuple, kDict, kNone, kBound };
  Kind kind = Kind::kLeaf;
  c10::TypePtr type;      // the type that forward declares
  bool is_given = false;  // the type is optional and the value is not None
  std::string path;       // "images[0]", "targets[0][boxes]", "state.hidden"; to_text() of a ValuePath
  std::vector<ArgumentTree> elements;
  std::vector<c10::IValue> keys;  // for kDict: the keys of the elements: texts, numbers or bools
  c10::IValue bound;              // for kBound: the value
  bool keeps_order = false;       // the order of the keys matters: the model iterates over them, or hands them on

  // Returns the type; for a given optional value, the type of the value.
  c10::TypePtr known_type() const { return is_given ? type->expectRef<c10::OptionalType>().getElementType() : type; }
  bool is_tensor() const { return kind == Kind::kLeaf && known_type()->kind() == c10::TypeKind::TensorType; }
};

struct Argument {
  std::string name;
  ArgumentTree tree;
  c10::optional<c10::IValue> default_value;
};
using ForwardArguments = std::vector<Argument>;

// Returns the leaves in the order of a walk through all arguments.
std::vector<const ArgumentTree*> leaves(const ForwardArguments& arguments);
// Returns true if each argument is one leaf.
bool is_flat(const ForwardArguments& arguments);

}  // namespace nnapi_convert
