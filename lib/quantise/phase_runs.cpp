// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/phase_runs.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "lib/nnapi/cost.h"
#include "lib/quantise/range.h"

namespace nnapi_convert::quantise {

namespace {

constexpr int64_t kMultiplyAdds = 20'000'000'000;  // the most of all runs for refining

}  // namespace

int64_t run_cost_of(const nnapi::Model& model) {
  constexpr int64_t kOfOperation = 10'000;
  const Count macs = nnapi::multiply_adds(model);
  const auto operations = static_cast<int64_t>(model.operations.size());
  return macs.is_known() ? macs.value_or(0) + kOfOperation * operations + 1 : kMultiplyAdds;
}

size_t most_runs_of(const nnapi::Model& model, bool tries_all) {
  constexpr int64_t kFewestRuns = 200, kMostRuns = 10000;
  if (tries_all) return std::numeric_limits<size_t>::max();
  return static_cast<size_t>(std::clamp(kMultiplyAdds / run_cost_of(model), kFewestRuns, kMostRuns));
}

size_t PhaseRuns::of(Phase phase) const {
  const size_t methods = (techniques.searches_ranges ? all_range_methods().size() : 1) * choosing;
  switch (phase) {
    case Phase::kExpect:
      return choosing + judging + calibration;
    case Phase::kMethods:
      return methods;
    case Phase::kPools:
      return techniques.makes_pool_layers ? choosing : 0;
    case Phase::kEqualise:
      return techniques.equalises ? calibration + methods : 0;
    case Phase::kRefine:
      if (!techniques.searches_ranges || !techniques.refines_ranges) return 0;
      return std::min(most, operations * choosing * (all_range_methods().size() - 1)) + 2 * choosing;
    case Phase::kCorrect:
      return techniques.corrects_bias ? choosing : 0;
    case Phase::kTarget:
      return has_target ? judging : 0;
    case Phase::kJudge:
      return judging + std::min(judging, kMostDiagnosed) * kRunsOfDiagnosis;
    case Phase::kEnd:
      break;
  }
  return 0;
}

size_t PhaseRuns::from(Phase phase, std::optional<size_t> runs) const {
  size_t ahead = runs.value_or(of(phase));
  for (int later = static_cast<int>(phase) + 1; later < static_cast<int>(Phase::kEnd); ++later) {
    ahead += of(static_cast<Phase>(later));
  }
  return ahead;
}

}  // namespace nnapi_convert::quantise
