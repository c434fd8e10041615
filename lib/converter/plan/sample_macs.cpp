// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/plan/sample_macs.h"

#include <algorithm>

#include "lib/converter/graph/node_reads.h"
#include "lib/converter/plan/node_cost.h"
#include "lib/converter/samples/reference_values.h"

namespace nnapi_convert {
namespace {

// True if running the graph would print or warn.
bool shows_something(torch::jit::Graph& graph) {
  bool found = false;
  for (torch::jit::Node* node : graph.nodes()) {
    for_each_node(*node, [&found](const torch::jit::Node& each) {
      found = found || each.kind() == c10::prim::Print || each.kind() == c10::aten::warn;
    });
  }
  return found;
}

bool is_uncounted(const CpuNode& node) {
  return !node.macs && node.cost == CostKind::kProduct;
}

std::vector<CpuNode*> unknown_nodes(Plan& plan) {
  std::vector<CpuNode*> nodes;
  for (CpuNode& node : plan.cpu_nodes) {
    if (is_uncounted(node)) nodes.push_back(&node);
  }
  return nodes;
}

ReferenceRequest request_of(const torch::jit::Node& node) {
  ReferenceRequest request;
  for (const torch::jit::Value* output : node.outputs()) request.made.push_back(output->debugName());
  request.wanted = request.made;
  for (const torch::jit::Value* input : node.inputs()) request.read.push_back(input->debugName());
  return request;
}

Count macs_in(const torch::jit::Node& node, const ReferenceValues& values) {
  return macs_of(node, [&](const TorchValue* value) -> std::optional<std::vector<int64_t>> {
    const auto found = values.find(value->debugName());
    return found == values.end() ? std::nullopt : std::optional(found->second.sizes().vec());
  });
}

}  // namespace

void count_macs_in_samples(NormalisedModel reference, const std::vector<InputTuple>& samples, Plan& plan) {
  const std::vector<CpuNode*> nodes = unknown_nodes(plan);
  if (nodes.empty() || samples.empty() || shows_something(*reference.graph)) return;
  std::vector<ReferenceRequest> requests;
  for (const CpuNode* node : nodes) requests.push_back(request_of(*node->nodes[0]));
  try {
    const Reference graph(std::move(reference), requests);
    for (const InputTuple& sample : samples) {
      std::vector<at::Tensor> inputs;
      for (const c10::IValue& value : sample) inputs.push_back(value.toTensor());
      const auto runs = graph.run(inputs);
      for (size_t i = 0; i < nodes.size(); ++i) {
        for (const ReferenceValues& values : runs[i]) {
          const Count macs = macs_in(*nodes[i]->nodes[0], values);
          if (!macs.is_known()) continue;
          nodes[i]->macs = std::max(nodes[i]->macs.value_or(0), macs.value_or(0));
          nodes[i]->is_estimated = true;
        }
      }
    }
  } catch (const std::exception&) {
    return;  // for example, the library of an operator is not loaded
  }
}

}  // namespace nnapi_convert
