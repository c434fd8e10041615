// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/related_sizes.h"

#include <algorithm>
#include <map>

namespace nnapi_convert {
namespace {

// Calls visit(size, axis, expression) for each open axis with a symbol.
template <typename Visit>
void for_each_related(const std::vector<ExportedTensor>& stated, const std::vector<std::string>& names,
                      std::vector<TensorType>& types, const Visit& visit) {
  for (size_t i = 0; i < types.size(); ++i) {
    const auto tensor = std::find_if(stated.begin(), stated.end(),
                                     [&](const ExportedTensor& each) { return each.path == names.at(i); });
    if (tensor == stated.end() || types[i].rank() != tensor->sizes.size()) continue;
    for (size_t axis = 0; axis < tensor->sizes.size(); ++axis) {
      Dim& size = types[i].dims[axis];
      const Dim own = Dim::of_input(static_cast<int>(i), static_cast<int>(axis));
      const auto& expression = tensor->sizes[axis].expression;
      if (expression && size == own) visit(size, own, *expression);
    }
  }
}

}  // namespace

void relate_sizes(const std::vector<ExportedTensor>& stated, const std::vector<std::string>& names,
                  std::vector<TensorType>& types) {
  std::map<std::string, Dim> symbols;
  for_each_related(stated, names, types, [&](Dim&, const Dim& own, const SizeExpression& expression) {
    if (expression.factor == 1 && expression.offset == 0) symbols.emplace(expression.symbol, own);
  });
  for_each_related(stated, names, types, [&](Dim&, const Dim& own, const SizeExpression& expression) {
    symbols.emplace(expression.symbol, (own - Dim(expression.offset)).floor_div(expression.factor));
  });
  for_each_related(stated, names, types, [&](Dim& size, const Dim&, const SizeExpression& expression) {
    size = Dim(expression.factor) * symbols.at(expression.symbol) + Dim(expression.offset);
  });
}

}  // namespace nnapi_convert
