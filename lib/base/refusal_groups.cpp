// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/refusal_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace nnapi_convert {
namespace {

std::string without_place(Refusal refusal) {
  refusal.where.clear();
  return refusal.message();
}

}  // namespace

std::string places_text(const std::vector<std::string>& places) {
  constexpr size_t kShown = 3;
  const auto end = places.begin() + static_cast<std::ptrdiff_t>(std::min(places.size(), kShown));
  std::string text = fmt::format("{}", fmt::join(places.begin(), end, ", "));
  if (places.size() > kShown) text += fmt::format(" and {} more", places.size() - kShown);
  return text;
}

std::string RefusalGroup::message() const {
  Refusal shown = *first;
  shown.where = places_text(places);
  return members.size() == 1 ? shown.message() : fmt::format("{}, {} times", shown.message(), members.size());
}

std::vector<RefusalGroup> groups_of(const std::vector<Refusal>& refusals) {
  std::vector<RefusalGroup> groups;
  std::map<std::string, size_t> numbers;
  for (size_t i = 0; i < refusals.size(); ++i) {
    const auto [number, is_new] = numbers.emplace(without_place(refusals[i]), groups.size());
    if (is_new) groups.push_back({&refusals[i], {}, {}});
    RefusalGroup& group = groups[number->second];
    group.members.push_back(i);
    const std::string& place = refusals[i].where;
    const bool is_known = std::find(group.places.begin(), group.places.end(), place) != group.places.end();
    if (!is_known && !place.empty()) group.places.push_back(place);
  }
  return groups;
}

}  // namespace nnapi_convert
