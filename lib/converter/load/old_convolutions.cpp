// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/old_convolutions.h"

#include <torch/csrc/jit/api/function_impl.h>

#include <unordered_set>

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Node;

// True for a call with (input, packed weights, stride, padding, dilation, groups, scale, zero point).
bool is_old_convolution(const Node& node) {
  static const std::unordered_set<c10::Symbol> kinds = {
      c10::Symbol::fromQualString("quantized::conv2d"), c10::Symbol::fromQualString("quantized::conv2d_relu"),
      c10::Symbol::fromQualString("quantized::conv3d"), c10::Symbol::fromQualString("quantized::conv3d_relu")};
  return node.inputs().size() == 8 && kinds.count(node.kind()) != 0;
}

void drop_in(Block& block) {
  for (Node* node : block.nodes()) {
    for (Block* inner : node->blocks()) drop_in(*inner);
    if (!is_old_convolution(*node)) continue;
    for (const size_t argument : {5, 4, 3, 2}) node->removeInput(argument);
  }
}

}  // namespace

void drop_repeated_arguments(const torch::jit::Module& module) {
  std::unordered_set<const torch::jit::Function*> done;  // modules of one class share their methods
  for (const torch::jit::Module& each : module.modules()) {
    for (const torch::jit::Method& method : each.get_methods()) {
      if (done.insert(&method.function()).second)
        drop_in(*torch::jit::toGraphFunction(method.function()).graph()->block());
    }
  }
}

}  // namespace nnapi_convert
