// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-probe/rules.h"

#include <algorithm>

namespace nnapi_probe {
namespace {

// The conditions of an operation that a rule has, one bit for each.
using Choice = uint32_t;

bool agree(const Point& one, const Point& other, Choice choice) {
  for (size_t i = 0; i < one.values.size(); ++i) {
    if ((choice >> i & 1) != 0 && one.values[i] != other.values[i]) return false;
  }
  return true;
}

int bit_count(Choice choice) {
  int count = 0;
  for (; choice != 0; choice &= choice - 1) ++count;
  return count;
}

// Returns all choices; choices with fewer conditions come first.
std::vector<Choice> choices(size_t condition_count) {
  std::vector<Choice> all(size_t{1} << condition_count);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Choice>(i);
  std::stable_sort(all.begin(), all.end(), [](Choice a, Choice b) { return bit_count(a) < bit_count(b); });
  return all;
}

// Returns the fewest conditions that tell a refused point from all accepted points. All conditions together always do.
Choice telling_conditions(const AnsweredGrid& answered, const Point& refused, const std::vector<Choice>& all) {
  for (const Choice choice : all) {
    bool is_telling = true;
    for (size_t i = 0; is_telling && i < answered.answers.size(); ++i) {
      is_telling = answered.answers[i] != Answer::kAccepted || !agree(answered.grid.points[i], refused, choice);
    }
    if (is_telling) return choice;
  }
  return all.back();
}

std::vector<RefusalRule> rules_of(const AnsweredGrid& answered) {
  const OperationGrid& grid = answered.grid;
  const std::vector<Choice> all = choices(grid.conditions.size());
  std::vector<bool> is_covered(grid.points.size(), false);
  std::vector<RefusalRule> rules;
  for (size_t i = 0; i < grid.points.size(); ++i) {
    if (answered.answers[i] != Answer::kRefused || is_covered[i]) continue;
    const Choice choice = telling_conditions(answered, grid.points[i], all);
    RefusalRule rule;
    rule.operations = {grid.operation->name};
    for (size_t c = 0; c < grid.conditions.size(); ++c) {
      if ((choice >> c & 1) != 0) rule.conditions[grid.conditions[c]] = {grid.points[i].values[c]};
    }
    rules.push_back(std::move(rule));
    for (size_t j = i; j < grid.points.size(); ++j) {
      if (agree(grid.points[j], grid.points[i], choice)) is_covered[j] = true;
    }
  }
  return rules;
}

// Joins two rules that differ only in the values of one condition or only in their operations. Returns whether it did.
bool join(RefusalRule& one, const RefusalRule& other) {
  if (one.conditions == other.conditions) {
    one.operations.insert(other.operations.begin(), other.operations.end());
    return true;
  }
  if (one.operations != other.operations || one.conditions.size() != other.conditions.size()) return false;
  const Condition* differing = nullptr;
  for (const auto& [condition, values] : one.conditions) {
    const auto same = other.conditions.find(condition);
    if (same == other.conditions.end()) return false;
    if (same->second == values) continue;
    if (differing != nullptr) return false;
    differing = &condition;
  }
  const std::set<int32_t>& more = other.conditions.at(*differing);
  one.conditions[*differing].insert(more.begin(), more.end());
  return true;
}

void join_all(std::vector<RefusalRule>& rules) {
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (size_t i = 0; i < rules.size(); ++i) {
      for (size_t j = i + 1; j < rules.size();) {
        if (join(rules[i], rules[j])) {
          rules.erase(rules.begin() + static_cast<std::ptrdiff_t>(j));
          is_changed = true;
        } else {
          ++j;
        }
      }
    }
  }
}

}  // namespace

std::vector<RefusalRule> make_rules(const std::vector<AnsweredGrid>& grids) {
  std::vector<RefusalRule> rules;
  for (const AnsweredGrid& answered : grids) {
    std::vector<RefusalRule> own = rules_of(answered);
    join_all(own);
    rules.insert(rules.end(), own.begin(), own.end());
  }
  join_all(rules);
  return rules;
}

}  // namespace nnapi_probe
