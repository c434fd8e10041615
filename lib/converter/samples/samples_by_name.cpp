// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/samples/samples_by_name.h"

#include <filesystem>
#include <set>

namespace nnapi_convert {

SamplesByName::SamplesByName(const std::vector<SampleName>& names) {
  std::map<std::string, std::set<size_t>> files;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].path.empty()) continue;
    files[std::filesystem::path(names[i].path).filename().string()].insert(i);
    by_name_[names[i].name] = by_name_[names[i].path] = i;
  }
  for (const auto& [name, samples] : files) {
    if (samples.size() == 1) by_name_.emplace(name, *samples.begin());
  }
}

std::optional<size_t> SamplesByName::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? std::nullopt : std::optional<size_t>(found->second);
}

}  // namespace nnapi_convert
