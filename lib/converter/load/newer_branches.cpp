// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/newer_branches.h"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <vector>

#include "lib/base/error.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/converter/load/newer_operators.h"
#include "lib/ops/op_arguments.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;

std::string message_of(const ScriptForm& newer) {
  return fmt::format("{}; {}", described(newer), newer.refusal);
}

void raise_for(Node* node, const ScriptForm& newer) {
  Graph& graph = *node->owningGraph();
  const torch::jit::WithInsertPoint here(node);
  const auto insert = [&](Node* made) {
    made->setSourceRange(node->sourceRange());
    made->setScope(node->scope());
    return graph.insertNode(made);
  };
  torch::jit::Value* message = graph.insertConstant(message_of(newer), node->sourceRange());
  torch::jit::Value* no_class = graph.insertConstant(c10::IValue(), node->sourceRange());
  insert(graph.create(c10::prim::RaiseException, {message, no_class}, 0));
  for (torch::jit::Value* output : node->outputs()) {
    output->replaceAllUsesWith(insert(graph.createUninitialized(output->type()))->output());
  }
  node->destroy();
}

}  // namespace

void check_newer_operators(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    const ScriptForm* newer = newer_operator(*node);
    if (newer == nullptr) continue;
    const std::string where = source_of(*node);
    throw ConvertError(ExitCode::kNotConvertible,
                       fmt::format("{}{}{}", where, where.empty() ? "" : ": ", message_of(*newer)));
  }
}

void raise_for_newer_operators(Graph& graph) {
  std::vector<Node*> nodes;
  for_each_node(graph, [&](Node& node) {
    if (newer_operator(node) != nullptr) nodes.push_back(&node);
  });
  for (Node* node : nodes) raise_for(node, *newer_operator(*node));
}

void raise_for_newer_operators(const torch::jit::Module& module) {
  for (const std::shared_ptr<Graph>& graph : saved_graphs(module)) raise_for_newer_operators(*graph);
}

}  // namespace nnapi_convert
