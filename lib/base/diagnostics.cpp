// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>

namespace nnapi_convert {
namespace {

std::string with_detail(const std::string& text, const std::string& detail) {
  return detail.empty() ? text : text + ": " + detail;
}

std::string place_of(const Warning& warning) {
  if (warning.where.empty()) return warning.op;
  return warning.op.empty() ? warning.where : fmt::format("{} ({})", warning.where, warning.op);
}

struct Group {
  const Warning* worst;
  size_t count;
};

std::string to_text(const Group& group) {
  if (group.count == 1) return group.worst->message();
  const std::string place = place_of(*group.worst), text = fmt::format("{}, {} times", group.worst->kind, group.count);
  if (place.empty()) return with_detail(text, group.worst->detail);
  const char* which = group.worst->detail.empty() ? "first" : "the worst";
  return with_detail(fmt::format("{}, {} at {}", text, which, place), group.worst->detail);
}

}  // namespace

std::string Warning::message() const {
  return with_detail(where.empty() ? kind : where + ": " + kind, detail);
}

std::vector<std::string> messages_of(const std::vector<Warning>& warnings) {
  std::vector<std::string> lines;
  for (const Warning& warning : warnings) lines.push_back(warning.message());
  return lines;
}

std::vector<std::string> summary_of(const std::vector<Warning>& warnings) {
  std::vector<Group> groups;  // in the order of their first
  for (const Warning& warning : warnings) {
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const Group& other) { return other.worst->kind == warning.kind; });
    if (group == groups.end()) {
      groups.push_back({&warning, 1});
      continue;
    }
    ++group->count;
    if (warning.magnitude > group->worst->magnitude) group->worst = &warning;
  }
  std::vector<std::string> lines;
  for (const Group& group : groups) lines.push_back(to_text(group));
  return lines;
}

}  // namespace nnapi_convert
