// SPDX-License-Identifier: BSD-3-Clause
// Writes the findings as rules: of a device profile (schemas/device_profile.schema.json), which the conversion reads,
// and about drivers (schemas/driver_rules.schema.json), which the shim reads.
#pragma once

#include <string>
#include <vector>

#include "tools/nnapi-probe/doctor/facts.h"
#include "tools/nnapi-probe/doctor/findings.h"

namespace nnapi_doctor {

// A rule that holds for an operation of this name if all conditions hold, and if one of `after` (a JSON list) stands
// before it, unless the list is empty.
struct Remedy {
  std::string operation;
  std::vector<Condition> types, forms;
  std::string after, reason;
  std::vector<std::string> sizes;  // sizes of operands that only wrong operations have; for driver rules
  bool is_fault = false;           // false: the device doesn't take the operation, which driver rules ignore
};

// Returns the fewest and narrowest rules that hold for each operation that was found wrong or is not taken, and for
// none that was found right, as far as the conditions can tell them apart.
std::vector<Remedy> find_remedies(const Patient& patient, const DeviceReport& device);

std::string profile_json(const Patient& patient, const DeviceReport& device, const std::vector<Remedy>& remedies);
// Returns each rule as a JSON object; the rules of all devices become one list.
std::vector<std::string> driver_rules(const DeviceReport& device, const std::vector<Remedy>& remedies);
std::string driver_rules_json(const std::vector<std::string>& rules);

}  // namespace nnapi_doctor
