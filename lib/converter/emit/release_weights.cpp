// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/release_weights.h"

#include <algorithm>
#include <unordered_set>

namespace nnapi_convert {
namespace {

using torch::jit::Node;

std::unordered_set<const Node*> nodes_of_segments(const Plan& plan) {
  std::unordered_set<const Node*> nodes;
  for (const PlanStep* step : segment_steps(plan)) nodes.insert(step->nodes.begin(), step->nodes.end());
  return nodes;
}

}  // namespace

void release_weights(NormalisedModel& model, Plan& plan) {
  model.frozen = torch::jit::Module();
  for (PlannedSegment& planned : plan.segments) {
    planned.segment.model.frozen = torch::jit::Module();
    planned.segment.model.graph.reset();
  }
  const std::unordered_set<const Node*> nodes = nodes_of_segments(plan);
  for (Node* node : model.graph->nodes()) {
    if (node->kind() != c10::prim::Constant || !node->hasAttribute(c10::attr::value)) continue;
    const auto& uses = node->output()->uses();
    const bool is_weight =
        node->output()->type()->isSubtypeOf(*c10::TensorType::get()) && !uses.empty() &&
        std::all_of(uses.begin(), uses.end(), [&](const torch::jit::Use& use) { return nodes.count(use.user) != 0; });
    if (is_weight) node->removeAttribute(c10::attr::value);
  }
}

}  // namespace nnapi_convert
