// SPDX-License-Identifier: BSD-3-Clause
// Runs the trial of a model in a process of its own, so that a driver that crashes or hangs does not harm the app.
#pragma once

#include "lib/shim/options.h"

namespace nnapi_shim {

struct TrialRequest {
  const char* program;  // nnapi-probe, or a program that takes its options --trial, --cache and so on
  const char* path;     // the archive's path
  const Options& options;
  uint64_t limit_ns;  // for each process; 0: no limit
};

// Starts the program until it ends by itself: each start that dies or hangs leaves a note in the journal, so that the
// next one does not try that device again. NNAPI_SHIM_FAILED if the program can't be started or fails,
// NNAPI_SHIM_TIMED_OUT if the last start hung, too.
int run_trial_process(const TrialRequest& request, nnapi_shim_error* error);

}  // namespace nnapi_shim
