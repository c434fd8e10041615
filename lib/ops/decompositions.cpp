// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/decompositions.h"

#include <string>
#include <unordered_map>

#include "lib/ops/lineage.h"

namespace nnapi_convert {

const Decompositions& all_decompositions() {
  static const Decompositions all = [] {
    Decompositions joined;
    for (const Decompositions& family : {attention_decompositions(), product_decompositions(), row_decompositions()}) {
      joined.insert(joined.end(), family.begin(), family.end());
    }
    return joined;
  }();
  return all;
}

const Decomposition* find_decomposition(const torch::jit::Node& node) {
  static const std::unordered_map<std::string, const Decomposition*> by_name = [] {
    std::unordered_map<std::string, const Decomposition*> found;
    for (const Decomposition& each : all_decompositions()) found.emplace(each.name, &each);
    return found;
  }();
  const auto found = by_name.find(operator_name(node));
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace nnapi_convert
