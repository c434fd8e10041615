// SPDX-License-Identifier: BSD-3-Clause
// Reads the results of nnapi-probe --doctor (schemas/doctor.schema.json), as far as a conversion needs them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace nnapi_convert {

struct ExaminedDevice {
  std::string name, conclusion;
  bool is_right = false;
  nlohmann::json profile;  // contains the rules for the findings
};

// Returns the examined devices. Throws ConvertError (kBadFile), whose sentence begins with `what`.
std::vector<ExaminedDevice> read_doctor(const std::string& text, const std::string& what);

// Adds the rules of `more` that `profile` does not have. Returns whether there were some. A null `profile` becomes
// `more`.
bool add_rules(nlohmann::json& profile, const nlohmann::json& more);

}  // namespace nnapi_convert
