// What forward takes where that is not only tensors, and which tensors are in it.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

#include <optional>
#include <string>
#include <vector>

namespace nnapi_convert {

// A value that goes to the graph as it is, or a list, tuple or dict of known size and keys; an optional value is there
// or is not; a bound one always has the same value.
struct ArgumentTree {
  enum class Kind { kLeaf, kList, kTuple, kDict, kNone, kBound };
  Kind kind = Kind::kLeaf;
  c10::TypePtr type;      // as forward declares it
  bool is_given = false;  // of an optional type, and is there
  std::string path;       // "images[0]", "targets[0][boxes]"
  std::vector<ArgumentTree> elements;
  std::vector<std::string> keys;  // of the elements, for kDict
  c10::IValue bound;              // for kBound
  bool keeps_order = false;       // of the keys: the model reads them one after the other, or hands them on

  // The type without what is known not to be None.
  c10::TypePtr known_type() const { return is_given ? type->expectRef<c10::OptionalType>().getElementType() : type; }
  bool is_tensor() const { return kind == Kind::kLeaf && known_type()->kind() == c10::TypeKind::TensorType; }
};

struct Argument {
  std::string name;
  ArgumentTree tree;
  c10::optional<c10::IValue> default_value;
};
using ForwardArguments = std::vector<Argument>;

// The leaves, in the order of a walk through all arguments.
std::vector<const ArgumentTree*> leaves(const ForwardArguments& arguments);
// True if each argument is one leaf.
bool is_flat(const ForwardArguments& arguments);

}  // namespace nnapi_convert
