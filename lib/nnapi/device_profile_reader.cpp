// Reads a device's profile. Reports an error of the file as one sentence: the place, the value found, the value needed.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "lib/base/error.h"
#include "lib/base/input_file.h"
#include "lib/format/driver_match.h"
#include "lib/format/json_nesting.h"
#include "lib/format/operation_table.h"
#include "lib/nnapi/device_profile.h"
#include "lib/nnapi/shipped_profiles.h"

namespace nnapi_convert::nnapi {
namespace {

using nlohmann::json;

constexpr int kHighestLevel = 8;

// A value of the file and the path to it.
struct Item {
  const json& value;
  std::string path;

  [[noreturn]] void fail(const std::string& needed) const {
    throw ConvertError(ExitCode::kBadFile, fmt::format("{}: {} found, {} needed", path, value.dump(), needed));
  }
  std::vector<Item> elements(bool may_be_empty) const {
    if (!value.is_array() || (value.empty() && !may_be_empty)) fail("a list");
    std::vector<Item> result;
    for (size_t i = 0; i < value.size(); ++i) result.push_back({value[i], fmt::format("{}[{}]", path, i)});
    return result;
  }
  std::vector<std::pair<std::string, Item>> members() const {
    if (!value.is_object()) fail("an object");
    std::vector<std::pair<std::string, Item>> result;
    for (const auto& [key, member] : value.items()) result.push_back({key, {member, path + "." + key}});
    return result;
  }
  std::string text() const {
    if (!value.is_string()) fail("a text");
    return value.get<std::string>();
  }
  int64_t integer() const {
    if (!value.is_number_integer()) fail("an integer");
    return value.get<int64_t>();
  }
  bool flag() const {
    if (!value.is_boolean()) fail("true or false");
    return value.get<bool>();
  }
};

OperationCode operation_of(const Item& item) {
  const OperationInfo* info = find_operation(item.text().c_str());
  if (info == nullptr) item.fail("the name of an NNAPI operation");
  return info->code;
}

OperandCode type_of(const Item& item) {
  const std::string name = item.text();
  for (int32_t code = 0; find_operand_type(static_cast<OperandCode>(code)) != nullptr; ++code) {
    if (name == name_of(static_cast<OperandCode>(code))) return static_cast<OperandCode>(code);
  }
  item.fail("the name of an NNAPI operand type");
}

PaddingStyle padding_of(const Item& item) {
  const std::string name = item.text();
  if (name == "SAME") return PaddingStyle::kSame;
  if (name == "VALID") return PaddingStyle::kValid;
  if (name == "EXPLICIT") return PaddingStyle::kExplicit;
  item.fail("SAME, VALID or EXPLICIT");
}

bool is_nchw(const Item& item) {
  const std::string name = item.text();
  if (name != "NHWC" && name != "NCHW") item.fail("NHWC or NCHW");
  return name == "NCHW";
}

DeviceRule::Range range_of(const Item& item) {
  const std::vector<Item> ends = item.elements(false);
  if (ends.size() != 2) item.fail("[least, greatest]");
  const DeviceRule::Range range{ends[0].integer(), ends[1].integer()};
  if (range.least < 0 || range.greatest < range.least) item.fail("[least, greatest]");
  return range;
}

template <typename Read>
auto set_of(const Item& item, const Read& read) {
  std::set<decltype(read(item))> result;
  for (const Item& element : item.elements(false)) result.insert(read(element));
  return result;
}

template <typename Read>
auto by_argument(const Item& item, const Read& read) {
  std::map<std::string, decltype(read(item))> result;
  for (const auto& [name, member] : item.members()) result[name] = read(member);
  return result;
}

DeviceRule rule_of(const Item& source) {
  DeviceRule rule;
  for (const auto& [key, item] : source.members()) {
    if (key == "operations") {
      rule.operations = set_of(item, operation_of);
    } else if (key == "types") {
      rule.types = by_argument(item, [](const Item& types) { return set_of(types, type_of); });
    } else if (key == "ranks") {
      rule.ranks = by_argument(item, range_of);
    } else if (key == "constants") {
      rule.constants = by_argument(item, [](const Item& flag) { return flag.flag(); });
    } else if (key == "paddings") {
      rule.paddings = set_of(item, padding_of);
    } else if (key == "layouts") {
      rule.nchw = set_of(item, is_nchw);
    } else if (key == "strides") {
      rule.strides = range_of(item);
    } else if (key == "reason") {
      rule.reason = item.text();
    } else {
      item.fail("another key");
    }
  }
  return rule;
}

std::vector<DeviceRule> rules_of(const Item& list) {
  std::vector<DeviceRule> rules;
  for (const Item& item : list.elements(true)) rules.push_back(rule_of(item));
  return rules;
}

json parsed_json(const std::string& text, const std::string& what) {
  if (is_nested_too_deep(text)) {
    throw ConvertError(ExitCode::kBadFile,
                       fmt::format("{}: lists or objects more than {} deep found", what, kMostNestedJson));
  }
  json source = json::parse(text, nullptr, false);
  if (source.is_discarded()) throw ConvertError(ExitCode::kBadFile, what + ": not JSON");
  return source;
}

// A rule of schemas/driver_rules.schema.json.
struct DriverRule {
  std::string device, driver = "*", from, before;
  DeviceRule refuses;

  bool is_of(const std::string& name, const std::string& version) const {
    return fits_pattern(name.c_str(), device.c_str()) && fits_pattern(version.c_str(), driver.c_str()) &&
           (from.empty() || compare_versions(version.c_str(), from.c_str()) >= 0) &&
           (before.empty() || compare_versions(version.c_str(), before.c_str()) < 0);
  }
};

void read_after(const Item& list, DeviceRule& rule) {
  for (const Item& item : list.elements(false)) {
    if (item.text() == "INPUT") {
      rule.is_after_input = true;
    } else {
      rule.after.insert(operation_of(item));
    }
  }
}

DriverRule driver_rule_of(const Item& source) {
  DriverRule rule;
  std::string source_url;
  for (const auto& [key, item] : source.members()) {
    if (key == "device") {
      rule.device = item.text();
    } else if (key == "driver") {
      rule.driver = item.text();
    } else if (key == "from") {
      rule.from = item.text();
    } else if (key == "before") {
      rule.before = item.text();
    } else if (key == "operations") {
      rule.refuses.operations = set_of(item, operation_of);
    } else if (key == "types") {
      rule.refuses.types["*"] = set_of(item, type_of);
    } else if (key == "elements") {
      rule.refuses.elements = item.integer();
    } else if (key == "after") {
      read_after(item, rule.refuses);
    } else if (key == "reason") {
      rule.refuses.reason = item.text();
    } else if (key == "sources") {
      source_url = item.elements(false).front().text();
    } else {
      item.fail("another key");
    }
  }
  rule.refuses.reason = fmt::format("its driver is known to be wrong: {} ({})", rule.refuses.reason, source_url);
  return rule;
}

// Returns what the driver is known to do wrong.
std::vector<DeviceRule> rules_of_driver(const std::string& name, const std::string& version) {
  const FolderFile& file = shipped_driver_rules().front();
  const json source = parsed_json(file.text, file.name);
  std::vector<DeviceRule> rules;
  for (const Item& item : Item{source.at("rules"), file.name}.elements(true)) {
    DriverRule rule = driver_rule_of(item);
    if (rule.is_of(name, version)) rules.push_back(std::move(rule.refuses));
  }
  return rules;
}

}  // namespace

class ProfileReader {
 public:
  static DeviceProfile read(const Item& source) {
    DeviceProfile profile;
    bool has_version = false, has_device = false;
    for (const auto& [key, item] : source.members()) {
      if (key == "version") {
        has_version = true;
        if (item.integer() != 1) item.fail("version 1");
      } else if (key == "device") {
        has_device = true;
        read_device(item, profile);
      } else if (key == "accepts") {
        profile.accepts_ = rules_of(item);
      } else if (key == "refuses") {
        profile.refuses_ = rules_of(item);
      } else {
        item.fail("another key");
      }
    }
    if (!has_version) fail_without(source, "version");
    if (!has_device) fail_without(source, "device");
    const json& device = source.value.at("device");
    std::vector<DeviceRule> faults = rules_of_driver(profile.name_, device.at("version").get<std::string>());
    profile.refuses_.insert(profile.refuses_.begin(), faults.begin(), faults.end());
    return profile;
  }

 private:
  [[noreturn]] static void fail_without(const Item& item, const char* key) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("{}: key \"{}\" needed", item.path, key));
  }

  static void read_device(const Item& source, DeviceProfile& profile) {
    std::set<std::string> missing = {"name", "version", "type", "feature_level"};
    for (const auto& [key, item] : source.members()) {
      if (missing.erase(key) == 0) item.fail("another key");
      if (key == "name") profile.name_ = item.text();
      if (key == "version") item.text();
      if (key == "type") check_type(item);
      if (key == "feature_level") profile.feature_level_ = level_of(item);
    }
    if (!missing.empty()) fail_without(source, missing.begin()->c_str());
  }

  static void check_type(const Item& item) {
    static const std::set<std::string> types = {"other", "cpu", "gpu", "accelerator"};
    if (types.count(item.text()) == 0) item.fail("other, cpu, gpu or accelerator");
  }

  static int level_of(const Item& item) {
    const int64_t level = item.integer();
    if (level < 1 || level > kHighestLevel) item.fail(fmt::format("1 to {}", kHighestLevel));
    return static_cast<int>(level);
  }
};

namespace {

DeviceProfile parse(const std::string& text, const std::string& what) {
  const json source = parsed_json(text, what);
  return ProfileReader::read({source, what});
}

}  // namespace

DeviceProfile DeviceProfile::read(const std::string& path) {
  std::string problem;
  const auto text = text_of_file(path, problem);
  if (!text) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("device profile {}: can't read it: {}", path, problem));
  }
  return parse(*text, "device profile " + path);
}

DeviceProfile find_profile(const std::string& file_or_name) {
  std::string names;
  for (const FolderFile& shipped : shipped_profiles()) {
    if (shipped.name == file_or_name) return parse(shipped.text, "device profile " + shipped.name);
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
