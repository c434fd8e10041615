// SPDX-License-Identifier: BSD-3-Clause
// Holds options of a conversion as data: merges the options of a manifest and of the command line, and turns them into
// arguments for the conversion's own command line. Only that command line interprets them.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace nnapi_convert {

// One option of the conversion, by its long name without dashes.
struct OptionRule {
  std::string name;
  bool is_flag = false;  // takes no value, except --nhwc=0,2
  bool repeats = false;  // may be given more than once
  bool is_path = false;  // its value is a file or folder
  // Built-in values, which are no files; for a value with a ':' only the part before it, as "random" for "random:8".
  std::set<std::string> known_values = {};

  bool is_file(const std::string& value) const {
    return is_path && known_values.count(value.substr(0, value.find(':'))) == 0;
  }
};
using OptionRules = std::vector<OptionRule>;

// Values by option name. A flag without a value has {"true"}; a flag switched off has {"false"}.
using OptionSet = std::map<std::string, std::vector<std::string>>;

// Reads options from a manifest's object; paths are relative to `folder`. Throws ConvertError (kUsage); its message
// begins with `where`.
OptionSet read_options(const nlohmann::json& object, const OptionRules& rules, const std::filesystem::path& folder,
                       const std::string& where);

// Returns true for an option whose file the conversion writes: the table of --calibration if --calibrate gives data.
bool is_written(const std::string& name, const OptionSet& options);

// Merges two sets; options of `above` replace the same options of `below`. nhwc and nchw exclude each other, as do
// feature-level and min-api: either of them in `above` replaces both in `below`.
OptionSet merge(OptionSet below, const OptionSet& above);

// Returns arguments for the conversion's command line in order of names, without flags that are off.
std::vector<std::string> to_arguments(const OptionSet& options);

}  // namespace nnapi_convert
