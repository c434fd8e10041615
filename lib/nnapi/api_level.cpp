// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/api_level.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "lib/format/operation_table.h"

namespace nnapi_convert {
namespace {

constexpr int64_t kFirstUpdatableCode = 1'000'000;

}  // namespace

std::optional<int> level_of_api(int64_t api) {
  std::optional<int> level;
  for (const FeatureLevelInfo& info : all_feature_levels()) {
    if (api > kFirstUpdatableCode ? info.code == api : info.min_api != 0 && info.min_api <= api) level = info.level;
  }
  return level;
}

std::optional<int> api_of_level(int level) {
  for (const FeatureLevelInfo& info : all_feature_levels()) {
    if (info.level == level && info.min_api != 0) return info.min_api;
  }
  return std::nullopt;
}

std::string option_for_level(int level) {
  const std::optional<int> api = api_of_level(level);
  return api ? fmt::format("--min-api {} (feature level {})", *api, level) : fmt::format("--feature-level {}", level);
}

const char* android_of_api(int api) {
  static constexpr std::array<std::pair<int, const char*>, 5> kVersions = {
      {{27, "8.1"}, {28, "9"}, {29, "10"}, {30, "11"}, {31, "12"}}};
  for (const auto& [known, version] : kVersions) {
    if (known == api) return version;
  }
  return "";
}

}  // namespace nnapi_convert
