// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/argument_source.h"

#include <fmt/format.h>

#include "lib/serialize/boundary_source.h"
#include "lib/serialize/source_text.h"
#include "lib/types/tensor_type.h"

namespace nnapi_convert {
namespace {

void append_leaves(const ArgumentTree& tree, std::vector<const ArgumentTree*>& result) {
  if (tree.kind == ArgumentTree::Kind::kLeaf) result.push_back(&tree);
  for (const ArgumentTree& element : tree.elements) append_leaves(element, result);
}

// Returns the numbers of a tensor as a list of one level.
std::string flat_list(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.flatten();
  std::string text;
  for (int64_t i = 0; i < flat.numel(); ++i) text += (i == 0 ? "" : ", ") + literal(c10::IValue(flat[i].item()));
  return "[" + text + "]";
}

class Flattening {
 public:
  explicit Flattening(const ForwardArguments& arguments) : arguments_(arguments) {}

  // Returns the statements that check the arguments without leaves.
  std::string bound_checks() {
    for (const Argument& argument : arguments_) {
      std::vector<const ArgumentTree*> leaves;
      append_leaves(argument.tree, leaves);
      if (leaves.empty()) take(argument.tree, argument.name);
    }
    return std::move(text_);
  }

  std::string method(const std::string& self) {
    std::string types;
    for (const Argument& argument : arguments_) take(argument.tree, argument.name);
    for (const ArgumentTree* leaf : leaves(arguments_)) {
      types += (types.empty() ? "" : ", ") + leaf->known_type()->annotation_str();
    }
    return fmt::format("  def {}(self: {}{}) -> Tuple[{}]:\n{}    return ({})\n", kFlattenMethod, self,
                       parameters_of(arguments_), types, text_, results_);
  }

 private:
  void raise_if(const std::string& condition, const std::string& reason) {
    text_ += fmt::format("    if {}:\n      ops.prim.RaiseException({})\n    else:\n      pass\n", condition, reason);
  }

  std::string new_variable(const std::string& value) {
    const std::string name = fmt::format("nnapi_value_{}", variables_++);
    text_ += fmt::format("    {} = {}\n", name, value);
    return name;
  }

  void check_count(const ArgumentTree& tree, const std::string& value) {
    const size_t count = tree.elements.size();
    const std::string length = fmt::format("torch.len({})", value);
    raise_if(fmt::format("torch.ne({}, {})", length, count),
             message({{fmt::format("nnapi-convert: input {}: ", tree.path)},
                      {length, true},
                      {fmt::format(" elements found, {} needed: the model was converted for that many", count)}}));
  }

  // Checks the order of a dict's keys; missing keys have messages of their own.
  void check_order(const ArgumentTree& tree, const std::string& value) {
    std::string known, needed, shown;
    for (const c10::IValue& key : tree.keys) {
      known += fmt::format("{}torch.__contains__({}, {})", known.empty() ? "" : ", ", value, literal(key));
      needed += (needed.empty() ? "" : ", ") + literal(key);
      shown += (shown.empty() ? "" : ", ") + key_text(key);
    }
    raise_if(
        fmt::format("torch.__and__(torch.all([{}]), torch.ne(torch.keys({}), [{}]))", known, value, needed),
        string_literal(fmt::format("nnapi-convert: input {}: keys in another order found than {}, which the model was "
                                   "converted with and reads them in",
                                   tree.path, shown)));
  }

  // Checks the value of the expression, and names its leaves.
  void take(const ArgumentTree& tree, const std::string& value) {
    if (tree.kind == ArgumentTree::Kind::kNone) {
      return raise_if(
          fmt::format("torch.__isnot__({}, None)", value),
          string_literal(fmt::format("nnapi-convert: input {}: a value found, None needed: the model was converted "
                                     "without one",
                                     tree.path)));
    }
    if (tree.kind == ArgumentTree::Kind::kBound) return take_bound(tree, value);
    if (!tree.is_given) return take_known(tree, value);
    raise_if(fmt::format("torch.__is__({}, None)", value),
             string_literal(fmt::format(
                 "nnapi-convert: input {}: None found, a value needed: the model was converted with one", tree.path)));
    take_known(tree, new_variable(fmt::format("unchecked_cast({}, {})", tree.known_type()->annotation_str(), value)));
  }

  void take_bound(const ArgumentTree& tree, const std::string& value) {
    const std::string needed = tree.bound.isTensor() ? string_literal("a tensor") : literal(tree.bound);
    const auto raise_unless = [&](const std::string& condition, const std::string& found) {
      raise_if(condition, message({{fmt::format("nnapi-convert: input {}: ", tree.path)},
                                   {found, true},
                                   {" found, "},
                                   {needed, true},
                                   {" needed: the model was converted for this value"}}));
    };
    std::string known = value;
    if (tree.type->kind() == c10::TypeKind::OptionalType) {
      raise_unless(fmt::format("torch.__is__({}, None)", value), string_literal("None"));
      const c10::TypePtr type = tree.type->expectRef<c10::OptionalType>().getElementType();
      known = new_variable(fmt::format("unchecked_cast({}, {})", type->annotation_str(), value));
    }
    if (tree.bound.isTensor()) return take_bound_tensor(tree, known);
    raise_unless(fmt::format("torch.ne({}, {})", known, needed), known);
  }

  // Checks an argument that is bound to a tensor. Its numbers are in the source: they are few.
  void take_bound_tensor(const ArgumentTree& tree, const std::string& value) {
    constexpr int64_t kMostShown = 16;
    const at::Tensor& needed = tree.bound.toTensor();
    const TensorType type{needed.scalar_type(), to_dims(needed.sizes().vec()), {}};
    const auto number = static_cast<int>(type.dtype);
    const std::string numbers = flat_list(needed), sizes = to_text(type.dims);
    const std::string dtype = fmt::format("ops.prim.dtype({})", value), size = fmt::format("torch.size({})", value);
    text_ += BoundarySource::raise_if(fmt::format("torch.ne({}, {})", dtype, number), tree.path, "dtype number", dtype,
                                      fmt::format("{} ({})", number, dtype_name(type.dtype)));
    text_ += BoundarySource::raise_if(fmt::format("torch.ne({}, {})", size, sizes), tree.path, "shape", size, sizes);
    const bool is_shown = needed.numel() <= kMostShown;
    text_ += BoundarySource::raise_if(
        fmt::format("torch.__not__(torch.equal(torch.flatten({}), torch.tensor({}, dtype={})))", value, numbers,
                    number),
        tree.path, "values", is_shown ? value : string_literal("others"), is_shown ? numbers : "those of --input");
  }

  void take_known(const ArgumentTree& tree, const std::string& value) {
    if (tree.kind == ArgumentTree::Kind::kLeaf) {
      results_ += value + ", ";
      return;
    }
    if (tree.kind != ArgumentTree::Kind::kTuple) check_count(tree, value);
    if (tree.keeps_order) check_order(tree, value);
    for (size_t i = 0; i < tree.elements.size(); ++i) {
      std::string index = std::to_string(i);
      if (tree.kind == ArgumentTree::Kind::kDict) {
        index = literal(tree.keys[i]);
        raise_if(
            fmt::format("torch.__not__(torch.__contains__({}, {}))", value, index),
            string_literal(fmt::format("nnapi-convert: input {}: no key {} found, which the model was converted with",
                                       tree.path, key_text(tree.keys[i]))));
      }
      const bool is_tuple = tree.kind == ArgumentTree::Kind::kTuple;
      const std::string object = is_tuple ? "(" + value + ")" : value;
      take(tree.elements[i], new_variable(fmt::format("{}[{}]", object, index)));
    }
  }

  const ForwardArguments& arguments_;
  std::string text_, results_;
  int variables_ = 0;
};

}  // namespace

std::vector<const ArgumentTree*> leaves(const ForwardArguments& arguments) {
  std::vector<const ArgumentTree*> result;
  for (const Argument& argument : arguments) append_leaves(argument.tree, result);
  return result;
}

bool is_flat(const ForwardArguments& arguments) {
  for (const Argument& argument : arguments) {
    if (argument.tree.kind != ArgumentTree::Kind::kLeaf || argument.tree.is_given) return false;
  }
  return true;
}

std::string parameters_of(const ForwardArguments& arguments) {
  std::string text;
  for (const Argument& argument : arguments) {
    text += fmt::format(", {}: {}", argument.name, argument.tree.type->annotation_str());
  }
  return text;
}

std::string names_of(const ForwardArguments& arguments) {
  std::string text;
  for (const Argument& argument : arguments) text += argument.name + ", ";
  return text;
}

std::string bound_checks(const ForwardArguments& arguments) {
  return Flattening(arguments).bound_checks();
}

std::string flatten_method(const std::string& self, const ForwardArguments& arguments) {
  return Flattening(arguments).method(self);
}

std::string bundled_type(const ForwardArguments& arguments) {
  std::string text;
  for (const Argument& argument : arguments) text += (text.empty() ? "" : ", ") + argument.tree.type->annotation_str();
  return "Tuple[" + text + "]";
}

}  // namespace nnapi_convert
