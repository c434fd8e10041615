// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/recognised_forms.h"

#include <map>
#include <string>
#include <vector>

#include "lib/converter/graph/insert_form.h"
#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Value;

const std::map<std::string, const char*>& forms() {
  static const std::map<std::string, const char*> all = {
      {"nnapi_convert::local_response_norm", R"(
def form(self, size: int, alpha: float, beta: float, k: float):
    sizes = self.size()
    squares = (self * self).reshape([sizes[0], 1, sizes[1], -1, 1])
    padded = torch.constant_pad_nd(squares, [0, 0, 0, 0, size // 2, (size - 1) // 2], 0)
    means = torch.avg_pool3d(padded, [size, 1, 1], [1, 1, 1]).reshape(sizes)
    return self / torch.pow(means * alpha + k, beta)
)"},
      {"nnapi_convert::l2_pool2d", R"(
def form(self, kernel_size: List[int], stride: List[int], ceil_mode: bool):
    means = torch.avg_pool2d(self * self, kernel_size, stride, [0, 0], ceil_mode)
    return torch.pow(means * (kernel_size[0] * kernel_size[-1]), 0.5)
)"},
  };
  return all;
}

}  // namespace

void use_recognised_forms(torch::jit::Graph& graph) {
  std::vector<Node*> nodes;
  for_each_node(graph, [&](Node& node) {
    if (forms().count(node.kind().toQualString()) != 0) nodes.push_back(&node);
  });
  for (Node* node : nodes) {
    const std::vector<Value*> results = insert_form(*node, forms().at(node->kind().toQualString()));
    node->output()->replaceAllUsesWith(results.at(0));
    node->destroy();
  }
}

}  // namespace nnapi_convert
