// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/ways.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/begins_with.h"
#include "lib/ops/decompositions.h"
#include "lib/ops/formulas.h"
#include "lib/ops/known_refusals.h"
#include "lib/ops/patterns.h"
#include "lib/ops/registry.h"
#include "lib/ops/script_forms.h"

namespace nnapi_convert {
namespace {

std::string name_in(const char* schema) {
  const std::string text = schema;
  return text.substr(0, text.find('('));
}

std::vector<OperatorWay> list_ways() {
  std::vector<OperatorWay> ways;
  for (const ScriptForm& form : all_script_forms()) {
    const bool is_refused = form.source == nullptr;
    ways.push_back({name_in(form.schema), is_refused ? Way::kNewerRefusal : Way::kScript, form.refusal});
  }
  for (const Pattern& pattern : all_patterns()) ways.push_back({pattern.last, Way::kPattern, pattern.result});
  for (const Decomposition& each : all_decompositions()) ways.push_back({each.name, Way::kDecomposition, ""});
  for (const std::string& name : operators_with_formulas()) ways.push_back({name, Way::kFormula, ""});
  for (const OpRule& rule : all_rules()) {
    ways.push_back({name_in(rule.schema), Way::kRow, fmt::format("level {}  {}", rule.feature_level, rule.note)});
  }
  for (const NamedRefusal& each : all_known_refusals()) {
    ways.push_back(
        {each.name, Way::kRefusal,
         fmt::format("{}; needed: {}; hint: {}", each.refusal->found, each.refusal->needed, each.refusal->hint)});
  }
  std::stable_sort(ways.begin(), ways.end(), [](const OperatorWay& a, const OperatorWay& b) {
    return a.name != b.name ? a.name < b.name : a.way < b.way;
  });
  return ways;
}

}  // namespace

std::vector<OperatorWay> ways_of(const std::string& name) {
  static const std::vector<OperatorWay> all = list_ways();
  std::vector<OperatorWay> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found), [&](const OperatorWay& each) {
    return name.empty() || each.name == name || begins_with(each.name, name + ".");
  });
  return found;
}

}  // namespace nnapi_convert
