// SPDX-License-Identifier: BSD-3-Clause
// Says what was found as rules: of a device profile (schemas/device_profile.schema.json), which the conversion reads,
// and of drivers (schemas/driver_rules.schema.json), which the shim reads.
#pragma once

#include <string>
#include <vector>

#include "tools/nnapi-probe/doctor/facts.h"
#include "tools/nnapi-probe/doctor/findings.h"

namespace nnapi_doctor {

// Holds for an operation of the name if all conditions hold, and, unless it is empty, one of `after` (a list in JSON)
// stands before it.
struct Remedy {
  std::string operation;
  std::vector<Condition> types, forms;
  std::string after, reason;
  std::vector<std::string> sizes;  // of one operand each, that tell what is wrong from what is right; for driver rules
  bool is_fault = false;           // else the device does not take it, which is no matter for driver rules
};

// Returns the fewest and narrowest rules that hold for each operation that was found wrong or is not taken, and for
// none that was found right, as far as the conditions can tell them apart.
std::vector<Remedy> find_remedies(const Patient& patient, const DeviceReport& device);

std::string profile_json(const Patient& patient, const DeviceReport& device, const std::vector<Remedy>& remedies);
// Each rule as an object in JSON; the rules of all devices are one list.
std::vector<std::string> driver_rules(const DeviceReport& device, const std::vector<Remedy>& remedies);
std::string driver_rules_json(const std::vector<std::string>& rules);

}  // namespace nnapi_doctor
