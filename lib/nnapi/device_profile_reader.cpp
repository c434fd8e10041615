// SPDX-License-Identifier: BSD-3-Clause
// Reads a device's profile, and adds the rules about known faults of the device's driver.
#include <fmt/format.h>

#include <filesystem>

#include "lib/base/error.h"
#include "lib/base/input_file.h"
#include "lib/format/driver_match.h"
#include "lib/format/json_value.h"
#include "lib/nnapi/device_profile.h"
#include "lib/nnapi/shipped_profiles.h"

namespace nnapi_convert::nnapi {
namespace {

// Returns the rule; nothing if it is about other devices or versions of the driver.
std::optional<DriverRule> driver_rule_of(const JsonValue& source, const DeviceRules& profile) {
  DriverRule rule;
  std::string source_url, reason;
  bool is_about = true;
  const char* const version = profile.version.c_str();
  for (const auto& [key, item] : source.members()) {
    if (key == "device") {
      is_about = is_about && fits_pattern(profile.name.c_str(), item.text().c_str());
    } else if (key == "driver") {
      is_about = is_about && fits_pattern(version, item.text().c_str());
    } else if (key == "from") {
      is_about = is_about && compare_versions(version, item.text().c_str()) >= 0;
    } else if (key == "before") {
      is_about = is_about && compare_versions(version, item.text().c_str()) < 0;
    } else if (key == "operations") {
      rule.operation.operations = item.set_of(operation_of);
    } else if (key == "types") {
      rule.operation.types["*"] = item.set_of(operand_type_of);
    } else if (key == "elements") {
      rule.elements = item.integer();
    } else if (key == "sizes") {
      rule.operation.sizes["*"] = item.set_of([](const JsonValue& list) { return read_sizes(list, 1); });
    } else if (key == "after") {
      read_predecessors(item, rule.operation.after, rule.operation.is_after_input);
    } else if (key == "reason") {
      reason = item.text();
    } else if (key == "sources") {
      source_url = item.elements(false).front().text();
    } else {
      item.fail("another key");
    }
  }
  rule.operation.reason = fmt::format("its driver is known to be wrong: {} ({})", reason, source_url);
  return is_about ? std::optional<DriverRule>(std::move(rule)) : std::nullopt;
}

// Refuses the report that the doctor writes for all devices. It holds a profile of each device; the doctor writes each
// profile as a file of its own beside it.
void refuse_doctors_file(const std::string& text, const std::string& path) {
  nlohmann::json json;
  try {
    json = parsed_json(text, path);
  } catch (const JsonError&) {
    return;  // parse() tells what is wrong
  }
  if (!json.is_object() || !json.contains("devices") || !json["devices"].is_array()) return;
  std::string devices;
  for (const nlohmann::json& device : json["devices"]) {
    const auto name = device.is_object() ? device.value("name", nlohmann::json()) : nlohmann::json();
    if (name.is_string()) devices += (devices.empty() ? "" : ", ") + name.get<std::string>();
  }
  throw ConvertError(
      ExitCode::kBadFile,
      fmt::format("device profile {}: what the doctor found on all devices ({}); needed: the profile of "
                  "one, NAME.profile.json beside it or in nnapi-probe's --folder, or OUT.profile.json of "
                  "nnapi-convert phone",
                  path, devices));
}

}  // namespace

DeviceProfile DeviceProfile::parse(const std::string& text, const std::string& what) {
  DeviceProfile profile;
  try {
    profile.rules_ = DeviceRules::parse(text, what);
    const FolderFile& file = shipped_driver_rules().front();
    const nlohmann::json source = parsed_json(file.text, file.name);
    for (const JsonValue& item : JsonValue{source.at("rules"), file.name}.elements(true)) {
      if (auto rule = driver_rule_of(item, profile.rules_)) profile.faults_.push_back(std::move(*rule));
    }
  } catch (const JsonError& error) {
    throw ConvertError(ExitCode::kBadFile, error.what());
  }
  return profile;
}

DeviceProfile DeviceProfile::read(const std::string& path) {
  std::string problem;
  const auto text = text_of_file(path, problem);
  if (!text) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("device profile {}: can't read it: {}", path, problem));
  }
  refuse_doctors_file(*text, path);
  return parse(*text, "device profile " + path);
}

DeviceProfile find_profile(const std::string& file_or_name) {
  std::string names;
  for (const FolderFile& shipped : shipped_profiles()) {
    if (shipped.name == file_or_name) return DeviceProfile::parse(shipped.text, "device profile " + shipped.name);
    names += (names.empty() ? "" : ", ") + shipped.name;
  }
  if (!std::filesystem::exists(file_or_name)) {
    throw ConvertError(
        ExitCode::kBadFile,
        fmt::format("device profile {}: no such file found, a file or one of {} needed", file_or_name, names));
  }
  return DeviceProfile::read(file_or_name);
}

}  // namespace nnapi_convert::nnapi
