// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/phase_runs.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "lib/nnapi/cost.h"
#include "lib/quantise/range.h"

namespace nnapi_convert::quantise {

size_t most_runs_of(const nnapi::Model& model, bool tries_all) {
  constexpr int64_t kFewestRuns = 200, kMostRuns = 10000, kMultiplyAdds = 20'000'000'000, kOfOperation = 10'000;
  if (tries_all) return std::numeric_limits<size_t>::max();
  const Count macs = nnapi::multiply_adds(model);
  // A small operation takes as long as some thousand multiply-adds.
  const auto operations = static_cast<int64_t>(model.operations.size());
  const int64_t one = macs.is_known() ? macs.value_or(0) + kOfOperation * operations + 1 : kMultiplyAdds;
  return static_cast<size_t>(std::clamp(kMultiplyAdds / one, kFewestRuns, kMostRuns));
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
