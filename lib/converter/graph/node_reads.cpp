// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/node_reads.h"

#include <algorithm>

#include "lib/ops/registry.h"

namespace nnapi_convert {

bool reads_values(const torch::jit::Node& node) {
  const auto inputs = node.inputs();
  return find_traits(node).has(Fact::kReadsNumber) &&
         std::any_of(inputs.begin(), inputs.end(),
                     [](const torch::jit::Value* input) { return input->type()->kind() == c10::TypeKind::TensorType; });
}

}  // namespace nnapi_convert
