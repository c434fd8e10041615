// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/size_conditions.h"

#include <fmt/format.h>

namespace nnapi_convert {

ConditionText text_of(const SizeCondition& condition, const std::vector<std::string>& names) {
  const auto name_of = [&](int input) { return names.at(static_cast<size_t>(input)); };
  const auto words = [&](int input, int axis) { return fmt::format("size {} of {}", axis, name_of(input)); };
  const char* than = condition.kind == SizeCondition::Kind::kEqual     ? ""
                     : condition.kind == SizeCondition::Kind::kAtLeast ? " or more"
                                                                       : " or less";
  ConditionText text{fmt::format("sizes: {}:", condition.left.text(words)),
                     fmt::format("{}{}", condition.right.text(words), than)};
  if (const auto own = condition.left.input_size()) {
    text.subject = fmt::format("input {}: size {}:", name_of(own->first), own->second);
  }
  return text;
}

ConditionText text_of(const SizeCondition& condition, const ModuleInterface& interface) {
  std::vector<std::string> names;
  for (const InterfaceInput& input : interface.inputs) names.push_back(input.name);
  return text_of(condition, names);
}

bool is_checked(const SizeCondition& condition, const ModuleInterface& interface) {
  bool is_read = true;
  const auto note = [&](int input, int /*axis*/) {
    is_read = is_read && interface.inputs.at(static_cast<size_t>(input)).is_read;
    return int64_t{1};
  };
  (void)condition.holds(note);
  return is_read;
}

}  // namespace nnapi_convert
