#include "lib/converter/reference_values.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/jit/runtime/interpreter.h>

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

std::vector<Value*> tensors_of(Graph& graph) {
  std::vector<Value*> tensors;
  for (Node* node : graph.nodes()) {
    for (Value* output : node->outputs()) {
      if (output->type()->kind() == c10::TypeKind::TensorType) tensors.push_back(output);
    }
  }
  return tensors;
}

// Makes the graph return a copy of each tensor, and nothing else.
void return_all(Graph& graph) {
  const std::vector<Value*> tensors = tensors_of(graph);
  Value* none = graph.insertNode(graph.createNone())->output();
  none->node()->moveBefore(*graph.nodes().begin());
  while (!graph.outputs().empty()) graph.eraseOutput(0);
  for (Value* tensor : tensors) {
    Node* copy = graph.create(c10::Symbol::fromQualString("aten::clone"), {tensor, none});
    copy->insertAfter(tensor->node());
    graph.registerOutput(copy->output());
  }
}

}  // namespace

std::unordered_map<std::string, at::Tensor> reference_values(const NormalisedModel& model,
                                                             const std::vector<at::Tensor>& inputs) {
  const std::shared_ptr<Graph> graph = model.graph->copy();
  return_all(*graph);
  torch::jit::Stack stack = {model.frozen._ivalue()};
  stack.insert(stack.end(), inputs.begin(), inputs.end());
  const torch::jit::Code code(graph, "forward");
  {
    const c10::InferenceMode guard;
    torch::jit::InterpreterState(code).run(stack);
  }
  std::unordered_map<std::string, at::Tensor> values;
  const std::vector<Value*> tensors = tensors_of(*model.graph);  // a copy numbers its values anew
  for (size_t i = 0; i < tensors.size(); ++i) values[tensors[i]->debugName()] = stack.at(i).toTensor();
  for (size_t i = 0; i < inputs.size(); ++i) values[model.inputs[i]->debugName()] = inputs[i];
  return values;
}

}  // namespace nnapi_convert
