// SPDX-License-Identifier: BSD-3-Clause
// How many runs of the model the phases of quantising take, so that one can tell how long the rest takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "lib/nnapi/model.h"
#include "lib/quantise/techniques.h"

namespace nnapi_convert::quantise {

// The phases of quantising that run the model, in their order.
enum class Phase { kExpect, kMethods, kPools, kEqualise, kRefine, kCorrect, kTarget, kJudge, kEnd };

constexpr size_t kMostDiagnosed = 4;     // samples
constexpr size_t kRunsOfDiagnosis = 11;  // the diagnosis of a sample takes about as long

// Returns the cost of a run in multiply-adds: a small operation takes as long as some thousand of them.
int64_t run_cost_of(const nnapi::Model& model);

// Returns how many runs refining ranges may take: runs of small models take hardly any time.
size_t most_runs_of(const nnapi::Model& model, bool tries_all);

struct PhaseRuns {
  Techniques techniques;
  bool has_target;
  size_t choosing, judging, calibration;  // samples
  size_t operations;
  size_t most;  // most_runs_of()

  // Returns about how many runs a phase takes; the most, if the data decide.
  size_t of(Phase phase) const;
  // Returns the runs of a phase (`runs` if they are known) and of all later ones.
  size_t from(Phase phase, std::optional<size_t> runs) const;
};

}  // namespace nnapi_convert::quantise
