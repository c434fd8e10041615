// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/batch/option_set.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/error.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

[[noreturn]] void refuse_option(const std::string& where, const std::string& name, const std::string& problem) {
  throw ConvertError(ExitCode::kUsage, fmt::format("{}/{}: {}", where, name, problem));
}

const OptionRule& rule_of(const std::string& name, const OptionRules& rules, const std::string& where) {
  const auto found =
      std::find_if(rules.begin(), rules.end(), [&](const OptionRule& rule) { return rule.name == name; });
  if (found != rules.end()) return *found;
  std::string known;
  for (const OptionRule& rule : rules) known += (known.empty() ? "" : ", ") + rule.name;
  refuse_option(where, name, fmt::format("no such option; the options are {}", known));
}

bool is_scalar(const json& value) {
  return value.is_string() || value.is_number_integer();
}

std::string text_of(const json& value, const OptionRule& rule, const std::filesystem::path& folder) {
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  return rule.is_file(text) ? (folder / text).string() : text;
}

std::vector<std::string> values_of(const json& value, const OptionRule& rule, const std::filesystem::path& folder,
                                   const std::string& where) {
  if (rule.is_flag && value.is_boolean()) return {value.get<bool>() ? "true" : "false"};
  if (rule.is_flag && !(value.is_string() && rule.name == "nhwc")) {
    refuse_option(where, rule.name, value.dump() + " found, true or false needed");
  }
  if (is_scalar(value)) return {text_of(value, rule, folder)};
  const bool is_list = value.is_array() && !value.empty() && std::all_of(value.begin(), value.end(), is_scalar);
  if (!rule.repeats || !is_list) {
    refuse_option(where, rule.name,
                  fmt::format("{} found, a string or a number{} needed", value.dump(),
                              rule.repeats ? ", or a list of them" : ""));
  }
  std::vector<std::string> values;
  for (const json& element : value) values.push_back(text_of(element, rule, folder));
  return values;
}

}  // namespace

OptionSet read_options(const json& object, const OptionRules& rules, const std::filesystem::path& folder,
                       const std::string& where) {
  if (!object.is_object()) {
    throw ConvertError(ExitCode::kUsage,
                       fmt::format("{}: {} found, an object of options needed", where, object.dump()));
  }
  OptionSet options;
  for (const auto& [name, value] : object.items()) {
    options[name] = values_of(value, rule_of(name, rules, where), folder, where);
  }
  return options;
}

bool is_written(const std::string& name, const OptionSet& options) {
  return name == "calibration" && options.count("calibrate") != 0;
}

OptionSet merge(OptionSet below, const OptionSet& above) {
  static const std::pair<const char*, const char*> exclusive[] = {{"nhwc", "nchw"}, {"feature-level", "min-api"}};
  for (const auto& [one, other] : exclusive) {
    if (above.count(one) == 0 && above.count(other) == 0) continue;
    below.erase(one);
    below.erase(other);
  }
  for (const auto& [name, values] : above) below[name] = values;
  return below;
}

std::vector<std::string> to_arguments(const OptionSet& options) {
  std::vector<std::string> arguments;
  for (const auto& [name, values] : options) {
    for (const std::string& value : values) {
      if (value == "false") continue;
      arguments.push_back(value == "true" ? "--" + name : fmt::format("--{}={}", name, value));
    }
  }
  return arguments;
}

}  // namespace nnapi_convert
