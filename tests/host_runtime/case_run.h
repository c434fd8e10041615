// SPDX-License-Identifier: BSD-3-Clause
// Executes a test case and compares the results with the expected results.
#pragma once

#include "tests/host_runtime/vectors.h"

namespace conformance {

// The ways from a compilation to results.
enum class Way {
  kBuffers,   // the caller's buffers, one computation
  kMemories,  // inputs and outputs in memory objects, with offsets
  kBurst,     // through a burst object
  kReusable,  // one execution, computed twice
};
constexpr Way kAllWays[] = {Way::kBuffers, Way::kMemories, Way::kBurst, Way::kReusable};

// Runs a case. Throws Refused, or std::runtime_error for a wrong result, or if a case that has to fail does not fail.
// `original` has the expected dimensions if `test` does not declare them.
void run_case(const vectors::Case& test, const vectors::Case& original, Way way);

}  // namespace conformance
