// SPDX-License-Identifier: BSD-3-Clause
// Turns a device's answers into the rules of its profile, with the fewest conditions that hold only for refused points.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/nnapi-probe/grid.h"
#include "tools/nnapi-probe/probe_model.h"

namespace nnapi_probe {

struct AnsweredGrid {
  OperationGrid grid;
  std::vector<Answer> answers;  // one for each point
};

// A rule that refuses an operation if it is one of `operations` and each condition has one of its values.
struct RefusalRule {
  std::set<std::string> operations;
  std::map<Condition, std::set<int32_t>> conditions;
};

// Returns rules that refuse every refused point of the grids and no accepted point. They may refuse points that were
// not asked.
std::vector<RefusalRule> make_rules(const std::vector<AnsweredGrid>& grids);

}  // namespace nnapi_probe
