// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/judging_samples.h"

#include <algorithm>
#include <cmath>

#include "lib/quantise/distance.h"
#include "lib/quantise/target.h"

namespace nnapi_convert {

HoldBack hold_back_for(const PlannedModel& planned, size_t count, const CalibrationOptions& calibration,
                       bool has_classes, bool has_scoring) {
  // Accuracy needs many samples. Those that the two forms classify differently widen the interval, so that more than
  // the fewest are needed to prove a loss.
  constexpr size_t kMostJudging = 200;
  constexpr double kMoreForLoss = 3;
  HoldBack usual;
  if (has_classes || has_scoring) usual.most = kMostJudging;
  const double drop = calibration.max_drop.value_or(1);
  if (drop <= 0 || drop >= 1 || has_scoring) return usual;
  const bool has_rows = planned.plan.is_whole() && !has_classes;
  const double rows = has_rows ? quantise::rows_of_run(planned.plan.segments[0].part.model) : 1;
  const double proving = quantise::rows_needed(drop) * (has_classes ? kMoreForLoss : 1);
  const auto needed = static_cast<size_t>(std::ceil(proving / std::max(1.0, rows)));
  if (needed <= std::min(usual.most, count / usual.every)) return usual;
  return {std::max<size_t>(2, count / needed), needed};
}

SampleTruth held_back_truth(const SampleTruth& truth, size_t count, const HoldBack& rule) {
  const std::vector<bool> is_held_back = held_back(count, rule);
  const bool is_any = std::count(is_held_back.begin(), is_held_back.end(), true) > 0;
  SampleTruth result = truth;
  if (!is_any || !truth.has_classes()) return result;
  result.classes.clear();
  for (size_t i = 0; i < count; ++i) {
    if (is_held_back[i]) result.classes.push_back(truth.classes[i]);
  }
  return result;
}

Judging judging_of(const CalibrationData& data, const HoldBack& rule) {
  const std::vector<bool> is_held_back = held_back(data.samples.size(), rule);
  const bool is_any = std::count(is_held_back.begin(), is_held_back.end(), true) > 0;
  Judging judging;
  for (size_t i = 0; i < data.samples.size(); ++i) {
    if (is_any && !is_held_back[i]) continue;
    judging.names.push_back(data.names[i]);
    judging.samples.push_back(data.samples[i]);
  }
  return judging;
}

}  // namespace nnapi_convert
