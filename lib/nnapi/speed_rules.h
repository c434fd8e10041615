// SPDX-License-Identifier: BSD-3-Clause
// Finds parts of an NNAPI model that drivers run slowly or leave to the CPU, by a list of rules. The id of a rule never
// changes; docs/check.md explains each rule.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

struct SpeedFinding {
  std::string rule;   // "run-time-weights"
  std::string where;  // the model's source line; may be empty
  std::string found;  // "CONV_2D with padding 1, 1, 1, 1 (top, bottom, left, right)"
  std::string fix;    // what to do about it
  int64_t macs = 0;   // multiply-adds of the operations found
  int64_t bytes = 0;  // bytes moved needlessly in each inference
};

// Applies the rules to each operation and its neighbours. Returns the findings in the order of operations.
// Multiply-adds and bytes that depend on a size that is not fixed count as 0.
std::vector<SpeedFinding> speed_findings(const Model& model);

}  // namespace nnapi_convert::nnapi
