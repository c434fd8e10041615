// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/cpu_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/serialize/argument_source.h"
#include "lib/serialize/source_text.h"
#include "lib/serialize/wrapper_source.h"

namespace nnapi_convert {
namespace {

std::string with_dtype(const std::string& value, at::ScalarType from, at::ScalarType to,
                       const Quantization& quantization) {
  if (from == to) return value;
  if (to == at::kFloat) return fmt::format("torch.dequantize({})", value);
  return fmt::format("torch.quantize_per_tensor({}, {}, {}, 13)", value, number(quantization.scale),
                     quantization.zero_point);
}

bool changes(const InterfaceOutput& output) {
  return output.original_dtype != output.dtype;
}

// Returns true if a tensor in the tree has another dtype in the original's results.
bool changes(const ReturnTree& tree, const ModuleInterface& interface) {
  if (tree.kind == ReturnTree::Kind::kTensor) return changes(interface.outputs[tree.tensor]);
  return std::any_of(tree.elements.begin(), tree.elements.end(),
                     [&](const ReturnTree& element) { return changes(element, interface); });
}

// Returns `value`, a tree of the original's results, with the caller's dtypes.
std::string converted_tree(const ReturnTree& tree, const std::string& value, const ModuleInterface& interface) {
  if (!changes(tree, interface)) return value;
  if (tree.kind == ReturnTree::Kind::kTensor) {
    const InterfaceOutput& output = interface.outputs[tree.tensor];
    return with_dtype(value, output.original_dtype, output.dtype, output.quantization);
  }
  std::vector<std::string> elements;
  for (size_t i = 0; i < tree.elements.size(); ++i) {
    const std::string key = tree.kind == ReturnTree::Kind::kDict ? literal(tree.keys[i]) : std::to_string(i);
    elements.push_back(converted_tree(tree.elements[i], fmt::format("({})[{}]", value, key), interface));
  }
  return collection(tree, elements);
}

// Makes the original's arguments from the caller's arguments.
class OriginalArguments {
 public:
  explicit OriginalArguments(const ModuleInterface& interface) : interface_(interface) {}

  // Returns an argument's expression. The tensors of the tree are the interface's next inputs.
  std::string from(const ArgumentTree& tree, const std::string& value) {
    if (!changes(tree, next_)) {
      next_ += tensors_in(tree);
      return value;
    }
    const std::string known =
        tree.is_given ? fmt::format("unchecked_cast({}, {})", tree.known_type()->annotation_str(), value) : value;
    if (tree.kind == ArgumentTree::Kind::kLeaf) return from(interface_.inputs[next_++], known);
    std::vector<std::string> elements;
    for (size_t i = 0; i < tree.elements.size(); ++i) {
      const std::string key = tree.kind == ArgumentTree::Kind::kDict ? literal(tree.keys[i]) : std::to_string(i);
      elements.push_back(from(tree.elements[i], fmt::format("({})[{}]", known, key)));
    }
    return collection({kind_of(tree), 0, {}, tree.keys, named_tuple(tree), {}, tree.known_type()}, elements);
  }

 private:
  static size_t tensors_in(const ArgumentTree& tree) {
    if (tree.kind == ArgumentTree::Kind::kLeaf) return tree.is_tensor() ? 1 : 0;
    size_t count = 0;
    for (const ArgumentTree& element : tree.elements) count += tensors_in(element);
    return count;
  }

  bool changes(const ArgumentTree& tree, size_t first) const {
    for (size_t i = first; i < first + tensors_in(tree); ++i) {
      if (interface_.inputs[i].type.dtype != interface_.inputs[i].original.dtype) return true;
    }
    return false;
  }

  static std::string from(const InterfaceInput& input, const std::string& value) {
    const Quantization& quantization =
        input.original.is_quantized() ? input.original.quantization : input.type.quantization;
    return with_dtype(value, input.type.dtype, input.original.dtype, quantization);
  }

  static c10::TupleTypePtr named_tuple(const ArgumentTree& tree) {
    const auto type = tree.known_type()->cast<c10::TupleType>();
    return type != nullptr && type->schema() ? type : nullptr;
  }

  static ReturnTree::Kind kind_of(const ArgumentTree& tree) {
    if (tree.kind == ArgumentTree::Kind::kDict) return ReturnTree::Kind::kDict;
    return tree.kind == ArgumentTree::Kind::kList ? ReturnTree::Kind::kList : ReturnTree::Kind::kTuple;
  }

  const ModuleInterface& interface_;
  size_t next_ = 0;
};

}  // namespace

std::string cpu_source(const std::string& name, const std::string& original_class, const ModuleInterface& interface,
                       const ForwardArguments& arguments, bool has_bundled_inputs) {
  std::string parameters, originals;
  OriginalArguments original(interface);
  for (const Argument& argument : arguments) {
    parameters += fmt::format(", {}: {}", argument.name, argument.tree.type->annotation_str());
    originals += original.from(argument.tree, argument.name) + ", ";
  }
  const std::string bundled = has_bundled_inputs ? bundled_type(arguments) : "";
  std::string text = fmt::format("class {}(Module):\n", name);
  text += "  __parameters__ = []\n  __buffers__ = []\n  training : bool\n";
  text += fmt::format("  model : {}\n", original_class);
  if (!bundled.empty()) text += fmt::format("  bundled_inputs : List[{}]\n", bundled);
  const std::string self = qualified_class(name);
  text += fmt::format("  def forward(self: {}{}):\n", self, parameters);
  text += fmt::format("    nnapi_results = (self.model).forward({})\n", originals);
  text += fmt::format("    return {}\n", converted_tree(interface.return_tree, "nnapi_results", interface));
  return text + bundled_methods(self, bundled);
}

}  // namespace nnapi_convert
