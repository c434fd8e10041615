// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/doctor_answer.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/format/device_profile.h"
#include "lib/format/json_value.h"

namespace nnapi_convert {
namespace {

ExaminedDevice device_of(const JsonValue& source) {
  ExaminedDevice device;
  bool has_profile = false;
  for (const auto& [key, item] : source.members()) {
    if (key == "name") device.name = item.text();
    if (key == "conclusion") device.conclusion = item.text();
    if (key == "is_right") device.is_right = item.flag();
    if (key != "device_profile") continue;
    (void)DeviceRules::parse(item.value.dump(), item.path);
    device.profile = item.value;
    has_profile = true;
  }
  if (!has_profile) source.fail_without("device_profile");
  return device;
}

}  // namespace

std::vector<ExaminedDevice> read_doctor(const std::string& text, const std::string& what) {
  std::vector<ExaminedDevice> devices;
  try {
    const nlohmann::json json = parsed_json(text, what);
    const JsonValue source{json, what};
    for (const auto& [key, item] : source.members()) {
      if (key == "version" && item.integer() != 1) item.fail("version 1");
      if (key != "devices") continue;
      for (const JsonValue& each : item.elements(true)) devices.push_back(device_of(each));
    }
  } catch (const JsonError& error) {
    throw ConvertError(ExitCode::kBadFile, error.what());
  }
  if (devices.empty()) throw ConvertError(ExitCode::kBadFile, what + ": no device found, one needed");
  return devices;
}

bool add_rules(nlohmann::json& profile, const nlohmann::json& more) {
  if (profile.is_null()) {
    profile = more;
    return !more.value("refuses", nlohmann::json::array()).empty();
  }
  nlohmann::json& rules = profile["refuses"];
  bool any = false;
  for (const nlohmann::json& rule : more.value("refuses", nlohmann::json::array())) {
    // Compares rules without their reasons: a reason tells how much was wrong, which differs from one examination to
    // the next.
    nlohmann::json bare = rule;
    bare.erase("reason");
    const bool is_known = std::any_of(rules.begin(), rules.end(), [&](nlohmann::json known) {
      known.erase("reason");
      return known == bare;
    });
    if (is_known) continue;
    rules.push_back(rule);
    any = true;
  }
  return any;
}

}  // namespace nnapi_convert
