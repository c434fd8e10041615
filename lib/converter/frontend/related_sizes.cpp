// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/related_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lib/base/error.h"

namespace nnapi_convert {
namespace {

// The expressions of sizes, by input and axis; nothing for a size without a symbol.
using Expressions = std::vector<std::vector<std::optional<SizeExpression>>>;

Expressions expressions_of(const std::vector<ExportedTensor>& stated, const std::vector<std::string>& names) {
  Expressions result(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    const ExportedTensor* tensor = find_tensor(stated, names[i]);
    if (tensor == nullptr) continue;
    for (const ExportedTensor::Size& size : tensor->sizes) result[i].push_back(size.expression);
  }
  return result;
}

SizeExpression read_expression(const InputSpec& spec, const std::string& word) {
  const std::optional<SizeExpression> expression = read_size_expression(word);
  constexpr int64_t kMostFactor = int64_t{1} << 20;
  if (expression && expression->factor > 0 && expression->factor <= kMostFactor) return *expression;
  throw ConvertError(ExitCode::kUsage,
                     fmt::format("--input {}: size \"{}\" is no number of 1 to 2^20 times a name", spec.text, word));
}

// Reads the expressions in specs: "1,3,32*n,?" has one.
Expressions expressions_of(const std::vector<const InputSpec*>& specs) {
  Expressions result(specs.size());
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i] == nullptr) continue;
    result[i].resize(specs[i]->sizes.size());
    for (const auto& [axis, open] : specs[i]->open) {
      if (!open.expression.empty()) result[i].at(axis) = read_expression(*specs[i], open.expression);
    }
  }
  return result;
}

// Calls visit(size, axis, expression) for each open axis with a symbol.
template <typename Visit>
void for_each_related(const Expressions& expressions, std::vector<TensorType>& types, const Visit& visit) {
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i].rank() != expressions[i].size()) continue;
    for (size_t axis = 0; axis < expressions[i].size(); ++axis) {
      Dim& size = types[i].dims[axis];
      const Dim own = Dim::of_input(static_cast<int>(i), static_cast<int>(axis));
      const auto& expression = expressions[i][axis];
      if (expression && size == own) visit(size, own, *expression);
    }
  }
}

void relate_sizes(const Expressions& expressions, std::vector<TensorType>& types) {
  std::map<std::string, Dim> symbols;
  for_each_related(expressions, types, [&](Dim&, const Dim& own, const SizeExpression& expression) {
    if (expression.factor == 1 && expression.offset == 0) symbols.emplace(expression.symbol, own);
  });
  for_each_related(expressions, types, [&](Dim&, const Dim& own, const SizeExpression& expression) {
    symbols.emplace(expression.symbol, (own - Dim(expression.offset)).floor_div(expression.factor));
  });
  for_each_related(expressions, types, [&](Dim& size, const Dim&, const SizeExpression& expression) {
    size = Dim(expression.factor) * symbols.at(expression.symbol) + Dim(expression.offset);
  });
}

}  // namespace

void relate_sizes(const std::vector<ExportedTensor>& stated, const std::vector<std::string>& names,
                  std::vector<TensorType>& types) {
  relate_sizes(expressions_of(stated, names), types);
}

void relate_sizes(const std::vector<const InputSpec*>& specs, std::vector<TensorType>& types) {
  relate_sizes(expressions_of(specs), types);
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i] == nullptr) continue;
    for (const auto& [axis, open] : specs[i]->open) {
      if (open.relation) types[i].dims.at(axis) = *open.relation;
    }
  }
}

}  // namespace nnapi_convert
