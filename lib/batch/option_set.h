// Options of a conversion as data: what a manifest and the command line say, merged, and turned into the arguments of
// the conversion's own command line, which alone knows what they mean.
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
  bool is_flag = false;                     // takes no value, but for --nhwc=0,2
  bool repeats = false;                     // may be given more than once
  bool is_path = false;                     // its value is a file that the conversion reads
  std::set<std::string> known_values = {};  // names that stand for what the program has, and are no files

  bool is_file(const std::string& value) const { return is_path && known_values.count(value) == 0; }
};
using OptionRules = std::vector<OptionRule>;

// Values by name; a flag without a value has {"true"}, one switched off {"false"}.
using OptionSet = std::map<std::string, std::vector<std::string>>;

// From a manifest's object; paths are relative to `folder`. Throws ConvertError (kUsage), `where` first.
OptionSet read_options(const nlohmann::json& object, const OptionRules& rules, const std::filesystem::path& folder,
                       const std::string& where);

// What `above` says, and of `below` what it leaves open. nhwc and nchw exclude each other, as do feature-level
// and min-api: one of them displaces both.
OptionSet merge(OptionSet below, const OptionSet& above);

// For the conversion's command line, in order of names; flags that are off are left out.
std::vector<std::string> to_arguments(const OptionSet& options);

}  // namespace nnapi_convert
