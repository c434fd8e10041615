// Reads a device's profile; reports each error in it as one sentence.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "lib/format/json_nesting.h"
#include "lib/format/operation_table.h"
#include "lib/host_runtime/device.h"
#include "lib/host_runtime/device_profile.h"
#include "lib/host_runtime/failure.h"

namespace nnapi_convert::host {
namespace {

using Json = nlohmann::json;
using Rule = DeviceProfile::Rule;

void require_keys(const Json& object, const std::string& where, const std::vector<const char*>& known) {
  if (!object.is_object()) bad_data("{}: an object needed", where);
  for (const auto& [key, value] : object.items()) {
    bool found = false;
    for (const char* name : known) found = found || key == name;
    if (!found) bad_data("{}: unknown key \"{}\" found", where, key);
  }
}

// Returns the position of `name` in `names`; fails if it is not there.
std::size_t position(const Json& name, const std::string& where, const std::vector<const char*>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (name == names[i]) return i;
  }
  bad_data("{}: {} found, {} needed", where, name.dump(), fmt::join(names, " or "));
}

template <typename Item, typename Read>
std::vector<Item> read_list(const Json& list, const std::string& where, const Read& read) {
  if (!list.is_array() || list.empty()) bad_data("{}: a list with at least one entry needed", where);
  std::vector<Item> result;
  for (const Json& item : list) result.push_back(read(item, where));
  return result;
}

template <typename Item, typename Read>
std::map<std::string, Item> read_map(const Json& map, const std::string& where, const Read& read) {
  if (!map.is_object()) bad_data("{}: an object by arguments needed", where);
  std::map<std::string, Item> result;
  for (const auto& [key, value] : map.items()) result[key] = read(value, where + "." + key);
  return result;
}

OperationCode read_operation(const Json& name, const std::string& where) {
  const OperationInfo* info = name.is_string() ? find_operation(name.get<std::string>().c_str()) : nullptr;
  if (!info) bad_data("{}: {} found, the name of an operation needed", where, name.dump());
  return info->code;
}

OperandCode read_type(const Json& name, const std::string& where) {
  for (int32_t code = 0; find_operand_type(static_cast<OperandCode>(code)); ++code) {
    if (name == nnapi_convert::name_of(static_cast<OperandCode>(code))) return static_cast<OperandCode>(code);
  }
  bad_data("{}: {} found, the name of an operand type needed", where, name.dump());
}

int64_t read_integer(const Json& number, const std::string& where) {
  if (!number.is_number_integer()) bad_data("{}: {} found, an integer needed", where, number.dump());
  return number.get<int64_t>();
}

bool read_flag(const Json& flag, const std::string& where) {
  if (!flag.is_boolean()) bad_data("{}: {} found, true or false needed", where, flag.dump());
  return flag.get<bool>();
}

std::string read_text(const Json& text, const std::string& where) {
  if (!text.is_string()) bad_data("{}: {} found, a text needed", where, text.dump());
  return text.get<std::string>();
}

std::pair<int64_t, int64_t> read_range(const Json& range, const std::string& where) {
  const std::vector<int64_t> ends = read_list<int64_t>(range, where, read_integer);
  if (ends.size() != 2 || ends[0] < 0 || ends[0] > ends[1])
    bad_data("{}: {} found, [least, greatest] needed", where, range.dump());
  return {ends[0], ends[1]};
}

Rule read_rule(const Json& source, const std::string& where) {
  require_keys(source, where,
               {"operations", "types", "ranks", "constants", "paddings", "layouts", "strides", "reason"});
  Rule rule;
  const auto at = [&](const char* key) { return where + "." + key; };
  if (source.contains("operations")) {
    rule.operations = read_list<OperationCode>(source["operations"], at("operations"), read_operation);
  }
  if (source.contains("types")) {
    rule.types = read_map<std::vector<OperandCode>>(
        source["types"], at("types"),
        [](const Json& list, const auto& name) { return read_list<OperandCode>(list, name, read_type); });
  }
  if (source.contains("ranks")) {
    rule.ranks = read_map<std::pair<int64_t, int64_t>>(source["ranks"], at("ranks"), read_range);
  }
  if (source.contains("constants")) rule.constants = read_map<bool>(source["constants"], at("constants"), read_flag);
  if (source.contains("paddings")) {
    rule.paddings = read_list<PaddingKind>(source["paddings"], at("paddings"), [](const Json& name, const auto& list) {
      return static_cast<PaddingKind>(position(name, list, {"SAME", "VALID", "EXPLICIT"}));
    });
  }
  if (source.contains("layouts")) {
    rule.nchw = read_list<bool>(source["layouts"], at("layouts"), [](const Json& name, const auto& list) {
      return position(name, list, {"NHWC", "NCHW"}) == 1;
    });
  }
  if (source.contains("strides")) rule.strides = read_range(source["strides"], at("strides"));
  if (source.contains("reason")) rule.reason = read_text(source["reason"], at("reason"));
  return rule;
}

std::vector<Rule> read_rules(const Json& list, const std::string& where) {
  if (!list.is_array()) bad_data("{}: a list of rules needed", where);
  std::vector<Rule> rules;
  for (const Json& rule : list) rules.push_back(read_rule(rule, fmt::format("{}[{}]", where, rules.size())));
  return rules;
}

const Json& member(const Json& object, const std::string& where, const char* key) {
  if (!object.contains(key)) bad_data("{}: key \"{}\" needed", where, key);
  return object.at(key);
}

}  // namespace

DeviceProfile DeviceProfile::read(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    bad_data("device profile {}: a regular file needed", path);  // a pipe lets its reader wait
  }
  std::ifstream stream(path);
  if (!stream) bad_data("device profile {}: {}", path, std::strerror(errno));
  const std::string where = "device profile " + path;
  const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (is_nested_too_deep(text)) bad_data("{}: lists or objects more than {} deep found", where, kMostNestedJson);
  const Json source = Json::parse(text, nullptr, false);
  if (source.is_discarded()) bad_data("{}: not JSON", where);
  require_keys(source, where, {"version", "device", "accepts", "refuses"});
  if (read_integer(member(source, where, "version"), where + ": version") != 1) bad_data("{}: version 1 needed", where);
  const Json& device = member(source, where, "device");
  const std::string of_device = where + ": device";
  require_keys(device, of_device, {"name", "version", "type", "feature_level"});
  DeviceProfile profile;
  profile.name_ = read_text(member(device, of_device, "name"), of_device + ".name");
  profile.version_ = read_text(member(device, of_device, "version"), of_device + ".version");
  profile.type_ = static_cast<int32_t>(DeviceType::kOther) +
                  static_cast<int32_t>(position(member(device, of_device, "type"), of_device + ".type",
                                                {"other", "cpu", "gpu", "accelerator"}));
  const int64_t level = read_integer(member(device, of_device, "feature_level"), of_device + ".feature_level");
  if (level < kLowestFeatureLevel || level > kHighestFeatureLevel) {
    bad_data("{}.feature_level: {} found, {} to {} needed", of_device, level, kLowestFeatureLevel,
             kHighestFeatureLevel);
  }
  profile.feature_level_ = static_cast<int>(level);
  if (source.contains("accepts")) profile.accepts_ = read_rules(source["accepts"], where + ": accepts");
  if (source.contains("refuses")) profile.refuses_ = read_rules(source["refuses"], where + ": refuses");
  return profile;
}

}  // namespace nnapi_convert::host
