// SPDX-License-Identifier: BSD-3-Clause
// Compares a batch's summary with an earlier one.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace nnapi_convert {

// The most by which a number may get worse, by the number's name: "operations", "size"...
using Limits = std::map<std::string, double>;

// Returns the default limits of all names.
Limits default_limits();
// Returns a line for each limit: name, unit, meaning and default.
std::string limits_help();
// Sets one limit from "NAME=NUMBER". Throws ConvertError (kUsage).
void set_limit(Limits& limits, const std::string& text);

// Reads a summary that a batch wrote. Throws ConvertError (kBadFile).
nlohmann::json read_summary(const std::string& path);

struct Comparison {
  std::string markdown;      // a heading, and a table of all changes
  int regressions = 0;       // changes for the worse beyond their limits
  int unknown_failures = 0;  // failing models that the earlier summary does not have
};

// Compares two summaries. A model that already failed in the same way in the earlier summary is no regression.
Comparison compare(const nlohmann::json& earlier, const nlohmann::json& now, const Limits& limits);

}  // namespace nnapi_convert
