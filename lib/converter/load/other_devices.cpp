// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/other_devices.h"

#include <torch/csrc/jit/ir/ir.h>

#include <vector>

#include "lib/converter/graph/node_reads.h"
#include "lib/converter/load/newer_operators.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;

constexpr const char* kCpu = "cpu";

bool is_device_constant(const Node& node) {
  return node.kind() == torch::jit::prim::Constant && node.hasAttribute(torch::jit::attr::value) &&
         node.output()->type()->kind() == c10::TypeKind::DeviceObjType &&
         node.kindOf(torch::jit::attr::value) == torch::jit::AttributeKind::s;
}

// True for aten::device("cuda:0"), the node that makes a device of a text.
bool makes_device(const Node& node) {
  return node.kind() == c10::Symbol::fromQualString("aten::device") && node.inputs().size() == 1 &&
         node.input()->type()->kind() == c10::TypeKind::StringType;
}

bool is_move_to_cuda(const Node& node) {
  return node.kind() == c10::Symbol::fromQualString("aten::cuda") && node.inputs().size() == 1;
}

void move_to_cpu(torch::jit::Graph& graph) {
  std::vector<Node*> moves, texts;
  for_each_node(graph, [&](Node& node) {
    if (is_device_constant(node)) node.s_(torch::jit::attr::value, kCpu);
    if (makes_device(node)) texts.push_back(&node);
    if (is_move_to_cuda(node)) moves.push_back(&node);
  });
  for (Node* node : moves) {
    node->output()->replaceAllUsesWith(node->input());
    node->destroy();
  }
  for (Node* node : texts) {
    const torch::jit::WithInsertPoint before(node);
    node->replaceInput(0, graph.insertConstant(kCpu));
  }
}

}  // namespace

void move_to_cpu(const torch::jit::Module& module) {
  for (const std::shared_ptr<torch::jit::Graph>& graph : saved_graphs(module)) move_to_cpu(*graph);
}

}  // namespace nnapi_convert
