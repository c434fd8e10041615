// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/recognise.h"

#include <torch/csrc/jit/passes/dead_code_elimination.h>

#include <algorithm>
#include <vector>

#include "lib/ops/patterns.h"

namespace nnapi_convert {

using torch::jit::Node;
using torch::jit::Value;

bool recognise(NormalisedModel& model, const TypeMap& types) {
  bool any = false;
  const std::vector<Node*> nodes(model.graph->nodes().begin(), model.graph->nodes().end());
  for (Node* node : nodes) {
    Value* found = recognise(node, types);
    if (found == nullptr) continue;
    std::replace(model.outputs.begin(), model.outputs.end(), node->output(), found);
    node->output()->replaceAllUsesWith(found);
    any = true;
  }
  if (any) {
    torch::jit::EliminateDeadCode(model.graph, torch::jit::DCESideEffectPolicy::DONT_DELETE_NODES_WITH_SIDE_EFFECTS);
  }
  return any;
}

}  // namespace nnapi_convert
