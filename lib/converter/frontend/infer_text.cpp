// SPDX-License-Identifier: BSD-3-Clause
// Writes the graph with its types as the text that --dump-after shows.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include "lib/converter/frontend/infer.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

std::string type_text(const ValueType& type) {
  if (const auto* tensor = std::get_if<TensorType>(&type)) return to_text(*tensor);
  if (const auto* sizes = std::get_if<Dims>(&type)) return "sizes " + to_text(*sizes);
  std::string text;
  for (const TensorType& tensor : std::get<TensorTypes>(type)) text += (text.empty() ? "" : ", ") + to_text(tensor);
  return "[" + text + "]";
}

std::string input_text(const Value* value) {
  const auto constant = torch::jit::toIValue(value);
  if (!constant) return "%" + value->debugName();
  if (constant->isTensor()) {
    const at::Tensor& tensor = constant->toTensor();
    return fmt::format("{}[{}]", dtype_name(tensor.scalar_type()), fmt::join(tensor.sizes(), ", "));
  }
  if (constant->isObject() || constant->isCustomClass()) return "object";
  std::ostringstream stream;
  stream << *constant;
  return stream.str();
}

// Writes the nodes of a block and of the blocks in it.
class GraphText {
 public:
  explicit GraphText(const TypeMap& types) : types_(types) {}

  std::string value(const Value* value) const {
    const auto found = types_.find(value);
    return "%" + value->debugName() + (found == types_.end() ? "" : ": " + type_text(found->second));
  }

  std::string nodes(const Block& block, const std::string& indent) const {
    std::string text;
    for (const Node* node : block.nodes()) {
      if (node->kind() != c10::prim::Constant) text += indent + node_text(*node) + blocks(*node, indent + "  ");
    }
    return text;
  }

 private:
  std::string node_text(const Node& node) const {
    std::string line;
    for (const Value* output : node.outputs()) line += (line.empty() ? "" : ", ") + value(output);
    line += fmt::format(" = {}(", node.kind().toQualString());
    for (size_t i = 0; i < node.inputs().size(); ++i) line += (i ? ", " : "") + input_text(node.input(i));
    return line + ")\n";
  }

  std::string blocks(const Node& node, const std::string& indent) const {
    std::string text;
    for (const Block* block : node.blocks()) {
      text += indent + "block";
      for (const Value* input : block->inputs()) text += " " + value(input);
      text += "\n" + nodes(*block, indent) + indent + "gives";
      for (const Value* output : block->outputs()) text += " " + input_text(output);
      text += "\n";
    }
    return text;
  }

  const TypeMap& types_;
};

}  // namespace

std::string to_text(const NormalisedModel& model, const TypeMap& types) {
  const GraphText graph(types);
  std::string text;
  for (const Value* input : model.inputs) text += "input " + graph.value(input) + "\n";
  text += graph.nodes(*model.graph->block(), "");
  for (const Value* output : model.outputs) text += "output %" + output->debugName() + "\n";
  return text;
}

}  // namespace nnapi_convert
