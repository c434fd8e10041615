// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/sample_rows.h"

#include <c10/core/GradMode.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <algorithm>
#include <map>

#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {
namespace {

// A tensor with an axis of exactly the open size.
struct Witness {
  torch::jit::Value* value;
  size_t axis;
};

// Finds a tensor for each open size, outside of branches and loops, as these may not run.
std::map<OpenSize, Witness> witnesses(torch::jit::Graph& graph, const TypeMap& types) {
  std::map<OpenSize, Witness> result;
  for (torch::jit::Node* node : graph.nodes()) {
    for (torch::jit::Value* output : node->outputs()) {
      const TensorType* type = tensor_type_of(output, types);
      for (size_t axis = 0; type != nullptr && axis < type->rank(); ++axis) {
        const std::set<OpenSize> sizes = open_sizes_in(type->dims[axis]);
        if (sizes.size() != 1 || type->dims[axis] != to_dim(*sizes.begin())) continue;
        if (is_runtime_size(*sizes.begin())) result.emplace(*sizes.begin(), Witness{output, axis});
      }
    }
  }
  return result;
}

// Makes a graph that returns the witnesses.
std::shared_ptr<torch::jit::Graph> graph_of(torch::jit::Graph& graph, const std::map<OpenSize, Witness>& found) {
  const size_t outputs = graph.outputs().size();
  for (const auto& [size, witness] : found) graph.registerOutput(witness.value);
  std::shared_ptr<torch::jit::Graph> copy = graph.copy();
  while (graph.outputs().size() > outputs) graph.eraseOutput(outputs);
  for (size_t i = 0; i < outputs; ++i) copy->eraseOutput(0);
  torch::jit::EliminateDeadCode(copy);
  return copy;
}

// True if running the graph would print.
bool prints(torch::jit::Graph& graph) {
  bool found = false;
  for (torch::jit::Node* node : graph.nodes()) {
    for_each_node(*node, [&found](const torch::jit::Node& each) { found = found || each.kind() == c10::prim::Print; });
  }
  return found;
}

std::vector<at::Tensor> run(const torch::jit::Code& code, const InputTuple& sample) {
  torch::jit::Stack stack{c10::IValue()};  // stands for the module itself, which nothing reads
  for (const c10::IValue& input : sample) stack.push_back(input);
  torch::jit::InterpreterState(code).run(stack);
  std::vector<at::Tensor> results;
  for (const c10::IValue& value : stack) results.push_back(value.toTensor());
  return results;
}

}  // namespace

void count_in_samples(const NormalisedModel& model, const std::vector<InputTuple>& samples, InferredTypes& inferred) {
  const std::map<OpenSize, Witness> found = witnesses(*model.graph, inferred.types);
  if (found.empty() || samples.empty() || prints(*model.graph)) return;
  std::map<OpenSize, int64_t> largest;
  try {
    const c10::NoGradGuard no_grad;
    const torch::jit::Code code(graph_of(*model.graph, found), "sizes");
    for (const InputTuple& sample : samples) {
      const std::vector<at::Tensor> results = run(code, sample);
      size_t number = 0;
      for (const auto& [size, witness] : found) {
        const at::Tensor& result = results.at(number++);
        largest[size] = std::max(largest[size], result.size(static_cast<int64_t>(witness.axis)));
      }
    }
  } catch (const std::exception&) {
    return;  // operators of libraries that aren't loaded: estimates by bounds stay
  }
  for (const auto& [size, count] : largest) {
    if (count > 0) count_as(size, count, inferred.runtime_sizes);
  }
}

}  // namespace nnapi_convert
