// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-probe/profile_json.h"

#include <algorithm>

#include "tools/nnapi-probe/doctor/json_text.h"

namespace nnapi_probe {
namespace {

using nnapi_doctor::joined;
using nnapi_doctor::quoted;

using nnapi_convert::name_of;

template <typename Items, typename Text>
std::string list(const Items& items, const Text& text) {
  std::vector<std::string> texts;
  for (const auto& item : items) texts.push_back(text(item));
  return "[" + joined(texts) + "]";
}

std::string name_list(const std::set<std::string>& names) {
  return list(names, quoted);
}

// Splits values into runs of neighbours, as a condition of the schema has one range.
std::vector<std::set<int32_t>> runs(const std::set<int32_t>& values) {
  std::vector<std::set<int32_t>> all;
  for (const int32_t value : values) {
    if (all.empty() || *all.back().rbegin() + 1 != value) all.emplace_back();
    all.back().insert(value);
  }
  return all;
}

bool is_range(ConditionKind kind) {
  return kind == ConditionKind::kRank || kind == ConditionKind::kStride;
}

std::string range_text(const std::set<int32_t>& values) {
  return "[" + std::to_string(*values.begin()) + ", " + std::to_string(*values.rbegin()) + "]";
}

const char* key_of(ConditionKind kind) {
  static const char* const kKeys[] = {"types", "ranks", "constants", "paddings", "layouts", "strides"};
  return kKeys[static_cast<size_t>(kind)];
}

std::string values_text(ConditionKind kind, const std::set<int32_t>& values) {
  static const char* const kPaddings[] = {"SAME", "VALID", "EXPLICIT"};
  switch (kind) {
    case ConditionKind::kType:
      return list(values, [](int32_t code) { return quoted(name_of(static_cast<OperandCode>(code))); });
    case ConditionKind::kRank:
    case ConditionKind::kStride:
      return range_text(values);
    case ConditionKind::kConstant:
      return *values.begin() != 0 ? "true" : "false";
    case ConditionKind::kPadding:
      return list(values, [](int32_t padding) { return quoted(kPaddings[padding]); });
    case ConditionKind::kLayout:
      return list(values, [](int32_t is_nchw) { return quoted(is_nchw != 0 ? "NCHW" : "NHWC"); });
  }
  return "";
}

std::string rule_text(const RefusalRule& rule) {
  std::map<std::string, std::vector<std::string>> by_argument;
  std::vector<std::string> members = {"\"operations\": " + name_list(rule.operations)};
  for (const auto& [condition, values] : rule.conditions) {
    const std::string text = values_text(condition.kind, values);
    if (condition.argument.empty()) {
      members.push_back(quoted(key_of(condition.kind)) + ": " + text);
    } else {
      by_argument[key_of(condition.kind)].push_back(quoted(condition.argument) + ": " + text);
    }
  }
  for (const auto& [key, arguments] : by_argument) members.push_back(quoted(key) + ": {" + joined(arguments) + "}");
  return "    {" + joined(members) + "}";
}

// Splits a rule into rules that the schema can express: drops a condition that allows constants and non-constants, and
// gives each range a rule of its own.
std::vector<RefusalRule> sayable(const RefusalRule& rule) {
  std::vector<RefusalRule> rules = {rule};
  for (const auto& [condition, values] : rule.conditions) {
    std::vector<RefusalRule> next;
    for (RefusalRule& one : rules) {
      if (condition.kind == ConditionKind::kConstant && values.size() == 2) {
        one.conditions.erase(condition);
        next.push_back(one);
      } else if (is_range(condition.kind)) {
        for (std::set<int32_t>& run : runs(values)) {
          one.conditions[condition] = std::move(run);
          next.push_back(one);
        }
      } else {
        next.push_back(one);
      }
    }
    rules = std::move(next);
  }
  return rules;
}

std::set<std::string> unknown_operations(const std::vector<AnsweredGrid>& grids, uint32_t feature_level) {
  std::set<std::string> names;
  for (const nnapi_convert::OperationInfo& operation : nnapi_convert::all_operations()) {
    if (operation.since <= static_cast<int32_t>(feature_level)) names.insert(operation.name);
  }
  for (const AnsweredGrid& answered : grids) {
    const bool is_known = std::any_of(answered.answers.begin(), answered.answers.end(),
                                      [](Answer answer) { return answer != Answer::kNotAsked; });
    if (is_known) names.erase(answered.grid.operation->name);
  }
  return names;
}

const char* type_name(int32_t type) {
  static const char* const kTypes[] = {"other", "other", "cpu", "gpu", "accelerator"};
  return type >= 0 && type < 5 ? kTypes[type] : "other";
}

}  // namespace

std::string profile_json(const nnapi_shim::Device& device, const std::vector<AnsweredGrid>& grids) {
  const uint32_t level = std::min<uint32_t>(device.feature_level, 8);
  std::string rules;
  for (const RefusalRule& rule : make_rules(grids)) {
    for (const RefusalRule& one : sayable(rule)) rules += rule_text(one) + ",\n";
  }
  const std::set<std::string> unknown = unknown_operations(grids, level);
  if (!unknown.empty()) {
    rules += "    {\"operations\": " + name_list(unknown) + ", \"reason\": \"nnapi-probe has no answer for it\"},\n";
  }
  if (!rules.empty()) rules.erase(rules.size() - 2, 1);
  return "{\n  \"version\": 1,\n  \"device\": {\"name\": " + quoted(device.name) +
         ", \"version\": " + quoted(device.version) + ", \"type\": " + quoted(type_name(device.type)) +
         ", \"feature_level\": " + std::to_string(level) + "},\n  \"refuses\": [\n" + rules + "  ]\n}\n";
}

}  // namespace nnapi_probe
