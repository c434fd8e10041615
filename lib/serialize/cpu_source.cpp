#include "lib/serialize/cpu_source.h"

#include <fmt/format.h>

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

// `value`, a tree of the original's results, as the caller gets it.
std::string converted_tree(const ReturnTree& tree, const std::string& value, const ModuleInterface& interface) {
  if (tree.kind == ReturnTree::Kind::kTensor) {
    const InterfaceOutput& output = interface.outputs[tree.tensor];
    return with_dtype(value, output.original_dtype, output.dtype, output.quantization);
  }
  std::vector<std::string> elements;
  for (size_t i = 0; i < tree.elements.size(); ++i) {
    const std::string key = tree.kind == ReturnTree::Kind::kDict ? quoted(tree.keys[i]) : std::to_string(i);
    elements.push_back(converted_tree(tree.elements[i], fmt::format("({})[{}]", value, key), interface));
  }
  return collection(tree, elements);
}

}  // namespace

std::string cpu_source(const std::string& original_class, const ModuleInterface& interface,
                       const std::string& bundled_type) {
  std::string parameters;
  std::string arguments;
  for (const InterfaceInput& input : interface.inputs) {
    parameters += fmt::format(", {}: Tensor", input.name);
    const Quantization& quantization =
        input.original.is_quantized() ? input.original.quantization : input.type.quantization;
    arguments += with_dtype(input.name, input.type.dtype, input.original.dtype, quantization) + ", ";
  }
  std::string text = fmt::format("class {}(Module):\n", kCpuClass);
  text += "  __parameters__ = []\n  __buffers__ = []\n  training : bool\n";
  text += fmt::format("  model : {}\n", original_class);
  if (!bundled_type.empty()) text += fmt::format("  bundled_inputs : List[{}]\n", bundled_type);
  const std::string self = qualified_class(kCpuClass);
  text += fmt::format("  def forward(self: {}{}) -> {}:\n", self, parameters, return_type(interface.return_tree));
  text += fmt::format("    nnapi_results = (self.model).forward({})\n", arguments);
  text += fmt::format("    return {}\n", converted_tree(interface.return_tree, "nnapi_results", interface));
  return text + bundled_methods(self, bundled_type);
}

}  // namespace nnapi_convert
