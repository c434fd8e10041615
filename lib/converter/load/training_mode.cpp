// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/training_mode.h"

#include <torch/csrc/jit/ir/constants.h>

#include "lib/converter/graph/node_reads.h"
#include "lib/ops/op_arguments.h"

namespace nnapi_convert {
namespace {

constexpr const char* kAttribute = "training";

// True for a module in training mode. A frozen module, a traced function or what optimize_for_mobile made has no such
// attribute.
bool is_training(const torch::jit::Module& module) {
  return module.hasattr(kAttribute) && module.attr(kAttribute).toBool();
}

bool reads_mode(const TorchNode& node) {
  return node.kind() == c10::prim::GetAttr && node.s(c10::attr::name) == kAttribute;
}

// True if an argument `training` or `train` of the node is the constant True: a trace records self.training so.
bool has_mode_recorded(const TorchNode& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr) return false;
  for (const char* name : {"training", "train"}) {
    const auto argument = schema->argumentIndexWithName(name);
    if (!argument) continue;
    const auto value = torch::jit::toIValue(node.input(static_cast<size_t>(*argument)));
    return value && value->isBool() && value->toBool();
  }
  return false;
}

struct ModeUses {
  bool is_read = false;
  std::vector<const TorchNode*> recorded;
};

ModeUses uses_of_mode(const torch::jit::Module& module) {
  ModeUses uses;
  for (const torch::jit::Module& each : module.modules()) {
    if (!is_training(each)) continue;
    for (const torch::jit::Method& method : each.get_methods()) {
      for_each_node(*method.graph(), [&](const TorchNode& node) {
        uses.is_read = uses.is_read || reads_mode(node);
        if (has_mode_recorded(node)) uses.recorded.push_back(&node);
      });
    }
  }
  return uses;
}

}  // namespace

void leave_training_mode(torch::jit::Module& module, Diagnostics& diagnostics) {
  if (!is_training(module)) return;
  const ModeUses uses = uses_of_mode(module);
  if (uses.is_read) {
    diagnostics.warn(
        "the model was saved in training mode and is converted in evaluation mode: call model.eval() first");
  }
  for (const TorchNode* node : uses.recorded) {
    diagnostics.warn(
        {"the model was traced in training mode, and this stays as it is in training: call model.eval() "
         "before tracing",
         source_of(*node), node->kind().toQualString(), "", 0});
  }
  module.eval();
}

}  // namespace nnapi_convert
