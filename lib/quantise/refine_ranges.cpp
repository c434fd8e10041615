// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/refine_ranges.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace nnapi_convert::quantise {
namespace {

constexpr double kSameRange = 0.02;

double change_of(const Range& from, const Range& to) {
  const double width = from.highest - from.lowest;
  if (!(width > 0)) return 0;
  return (std::abs(from.lowest - to.lowest) + std::abs(from.highest - to.highest)) / width;
}

}  // namespace

std::vector<RangeTrial> range_trials(const Assignment& current, const std::vector<Assignment>& others, size_t most) {
  std::map<size_t, std::vector<size_t>> members;
  for (size_t i = 0; i < current.ranges.size(); ++i) {
    if (current.ranges[i]) members[current.groups[i]].push_back(i);
  }
  std::vector<RangeTrial> trials;
  for (const auto& [group, operands] : members) {
    std::vector<Range> known = {*current.ranges[operands[0]]};
    for (const Assignment& other : others) {
      const std::optional<Range>& range = other.ranges[operands[0]];
      const auto is_near = [&](const Range& each) { return change_of(each, *range) < kSameRange; };
      if (!range || std::any_of(known.begin(), known.end(), is_near)) continue;
      known.push_back(*range);
      trials.push_back({operands, *range, change_of(known[0], *range)});
    }
  }
  std::stable_sort(trials.begin(), trials.end(),
                   [](const RangeTrial& a, const RangeTrial& b) { return a.change > b.change; });
  if (trials.size() > most) trials.resize(most);
  return trials;
}

}  // namespace nnapi_convert::quantise
