// What in an NNAPI model drivers run slowly or leave to the CPU: a list of rules, each with an id that stays the same.
// docs/check.md says what each means.
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
  int64_t macs = 0;   // multiply-adds that it concerns
  int64_t bytes = 0;  // that are moved for nothing, for each inference
};

// Rules that look at single operations and what is around them, in the order of operations. What depends on a size that
// isn't fixed counts nothing.
std::vector<SpeedFinding> speed_findings(const Model& model);

}  // namespace nnapi_convert::nnapi
