// Compares a batch's summary with an earlier one.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace nnapi_convert {

// How much worse a number may get, by its name: "operations", "size"...
using Limits = std::map<std::string, double>;

// Those of all names, as they are unless the user says otherwise.
Limits default_limits();
// A line for each: name, unit, meaning and default.
std::string limits_help();
// Sets one from "NAME=NUMBER". Throws ConvertError (kUsage).
void set_limit(Limits& limits, const std::string& text);

// Reads a summary that a batch wrote. Throws ConvertError (kBadFile).
nlohmann::json read_summary(const std::string& path);

struct Comparison {
  std::string markdown;      // a heading, and a table of all that changed
  int regressions = 0;       // changes for the worse beyond their limits
  int unknown_failures = 0;  // models that fail and are not in the earlier summary
};

// What is in the earlier summary counts: a model that failed before in the same way is no regression.
Comparison compare(const nlohmann::json& earlier, const nlohmann::json& now, const Limits& limits);

}  // namespace nnapi_convert
