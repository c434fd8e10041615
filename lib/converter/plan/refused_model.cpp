// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/plan/refused_model.h"

#include <algorithm>
#include <utility>

#include "lib/converter/graph/glue.h"
#include "lib/converter/plan/partition.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;

bool is_shown(const Node& node) {
  return node.kind() != torch::jit::prim::Constant && node.kind() != torch::jit::prim::GetAttr && !is_glue(node);
}

// Makes a plan that leaves all nodes to the CPU.
class RefusedPlan {
 public:
  explicit RefusedPlan(const std::vector<Refusal>& refusals) {
    for (const Refusal& refusal : refusals) plan_.cpu_nodes.push_back({refusal, std::nullopt});
  }

  Plan run(torch::jit::Block& block) {
    plan_.steps = steps_of(block);
    return std::move(plan_);
  }

 private:
  std::vector<PlanStep> steps_of(torch::jit::Block& block) {
    PlanStep step;
    for (Node* node : block.nodes()) {
      if (!is_shown(*node)) continue;
      step.nodes.push_back(node);
      give_reason(*node);
      for (torch::jit::Block* inner : node->blocks()) plan_.blocks[inner] = steps_of(*inner);
    }
    return {std::move(step)};
  }

  void give_reason(const Node& node) {
    const std::string where = source_of(node), op = node.kind().toQualString();
    const auto found = std::find_if(plan_.cpu_nodes.begin(), plan_.cpu_nodes.end(), [&](const CpuNode& cpu) {
      return cpu.reason.where == where && cpu.reason.op == op;
    });
    if (found != plan_.cpu_nodes.end()) found->nodes.push_back(&node);
  }

  Plan plan_;
};

}  // namespace

RefusedModel::RefusedModel(const std::string& message, RefusedGraph graph)
    : ConvertError(ExitCode::kNotConvertible, message),
      graph_(std::make_shared<const RefusedGraph>(std::move(graph))) {}

ModelGraph graph_of_refused(const NormalisedModel& model, const TypeMap& types, const std::vector<Refusal>& refusals) {
  const Plan plan = RefusedPlan(refusals).run(*model.graph->block());
  return graph_of({model, plan, types});
}

}  // namespace nnapi_convert
