// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-probe/doctor/findings.h"

#include <algorithm>

namespace nnapi_doctor {

const char* name_of(Finding finding) {
  static const char* const kNames[kFindings] = {"not tried", "unknown", "not taken", "right", "half precision",
                                                "wrong",     "error",   "crash",     "hang"};
  return kNames[static_cast<size_t>(finding)];
}

std::string runs_text(const TrialResult& result) {
  if (!result.comes_and_goes()) return "";
  return ", in " + std::to_string(result.wrong_runs) + " of " + std::to_string(result.runs) + " runs";
}

Finding PartReport::worst_whole() const {
  Finding worst = Finding::kNotTried;
  for (const TrialResult& result : whole) worst = std::max(worst, result.finding);
  return worst;
}

bool PartReport::is_right() const {
  return !any_taken || !is_fault(worst_whole());
}

bool DeviceReport::is_right() const {
  return std::all_of(parts.begin(), parts.end(), [](const PartReport& part) { return part.is_right(); });
}

bool DeviceReport::computes_in_half() const {
  return std::any_of(parts.begin(), parts.end(), [](const PartReport& part) {
    return std::any_of(part.operations.begin(), part.operations.end(),
                       [](const OperationReport& each) { return each.alone.finding == Finding::kHalf; });
  });
}

}  // namespace nnapi_doctor
