#include "lib/host_runtime/feature_level.h"

#include <cstdlib>
#include <cstring>

#include "lib/host_runtime/failure.h"

namespace nnapi_convert::host {

int offered_feature_level() {
  const char* text = std::getenv("NNAPI_HOST_FEATURE_LEVEL");
  if (!text || !*text) return kHighestFeatureLevel;
  const int level = std::strlen(text) == 1 ? text[0] - '0' : 0;
  if (level >= kLowestFeatureLevel && level <= kHighestFeatureLevel) return level;
  bad_data("NNAPI_HOST_FEATURE_LEVEL: '{}' found, {} to {} needed", text, kLowestFeatureLevel, kHighestFeatureLevel);
}

}  // namespace nnapi_convert::host
