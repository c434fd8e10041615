// Executions of a test case, and the comparison of their results with the expected ones.
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

// Throws Refused, or std::runtime_error for another result than the expected one. `original` tells the expected
// dimensions where `test` does not declare them. For a case that has to fail, it throws where it does not.
void run_case(const vectors::Case& test, const vectors::Case& original, Way way);

}  // namespace conformance
