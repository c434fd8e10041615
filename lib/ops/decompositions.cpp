#include "lib/ops/decompositions.h"

#include <algorithm>
#include <string>

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

bool decompose(torch::jit::Node* node) {
  const std::string name = operator_name(*node);
  const auto found = std::find_if(all_decompositions().begin(), all_decompositions().end(),
                                  [&](const Decomposition& each) { return name == each.name; });
  return found != all_decompositions().end() && found->replace(node);
}

}  // namespace nnapi_convert
