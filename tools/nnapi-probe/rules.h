// From a device's answers to the rules of its profile: the fewest conditions that hold for refused points alone.
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

// Refuses an operation if it is one of `operations` and each condition has one of its values. No condition: always.
struct RefusalRule {
  std::set<std::string> operations;
  std::map<Condition, std::set<int32_t>> conditions;
};

// Every refused point of the grids is refused by a rule, and no accepted one. Points that were not asked may be either.
std::vector<RefusalRule> make_rules(const std::vector<AnsweredGrid>& grids);

}  // namespace nnapi_probe
