// SPDX-License-Identifier: BSD-3-Clause
#include "tests/ops/coverage.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/converter/frontend/normalise.h"
#include "lib/ops/registry.h"
#include "tests/ops/case_module.h"

namespace nnapi_convert {

void RuleCoverage::add(const OpCase& op_case) {
  if (!op_case.refusals.empty()) return;
  Diagnostics ignored;
  const NormalisedModel model = normalise({op_case.file, make_case_module(op_case), {}}, {}, ignored);
  add_nodes(*model.graph, op_case.level);
  // Normalising removes some nodes, which are there in models of other forms.
  add_nodes(*make_case_module(op_case).get_method("forward").graph(), op_case.level);
}

void RuleCoverage::add_nodes(const torch::jit::Graph& graph, int level) {
  for (const TorchNode* node : graph.nodes()) {
    const OpRule* rule = find_rule(*node);
    if (rule == nullptr) continue;
    const auto entry = lowest_level_.emplace(rule->schema, level).first;
    entry->second = std::min(entry->second, level);
  }
}

std::vector<std::string> RuleCoverage::problems() const {
  std::vector<std::string> problems;
  for (const OpRule& rule : all_rules()) {
    const auto found = lowest_level_.find(rule.schema);
    if (found == lowest_level_.end()) {
      problems.push_back(fmt::format("no case for {}", rule.schema));
    } else if (found->second > rule.feature_level) {
      problems.push_back(fmt::format("{} claims feature level {}, and the lowest of its cases is {}", rule.schema,
                                     rule.feature_level, found->second));
    }
  }
  return problems;
}

}  // namespace nnapi_convert
