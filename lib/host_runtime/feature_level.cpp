// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/feature_level.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "lib/format/operation_table.h"
#include "lib/host_runtime/log.h"

namespace nnapi_convert::host {
namespace {

struct Function {
  int level;
  const char* name;
};

constexpr Function kFunctions[] = {
#define NNAPI_HOST_FUNCTION(level, name) {level, #name},
#include "lib/host_runtime/functions.inc"
#undef NNAPI_HOST_FUNCTION
};

}  // namespace

int offered_feature_level() {
  const char* text = std::getenv("NNAPI_HOST_FEATURE_LEVEL");
  if (!text || !*text) return kLibraryFeatureLevel;
  const int level = std::strlen(text) == 1 ? text[0] - '0' : 0;
  if (level >= kLowestFeatureLevel && level <= kLibraryFeatureLevel) return level;
  complain_of_variable(
      "NNAPI_HOST_FEATURE_LEVEL", text,
      fmt::format("{} to {} needed; {} is taken", kLowestFeatureLevel, kLibraryFeatureLevel, kLibraryFeatureLevel));
  return kLibraryFeatureLevel;
}

int64_t feature_level_code(int level) {
  for (const FeatureLevelInfo& info : all_feature_levels()) {
    if (info.level == level) return info.code;
  }
  return 0;
}

int level_of_function(const char* name) {
  for (const Function& function : kFunctions) {
    if (std::strcmp(function.name, name) == 0) return function.level;
  }
  return kLowestFeatureLevel;
}

}  // namespace nnapi_convert::host
