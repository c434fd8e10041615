// Android's API levels and NNAPI's feature levels.
#pragma once

#include <cstdint>
#include <optional>

namespace nnapi_convert {

// The feature level of an Android API level, 27 and higher, or of what ANeuralNetworks_getRuntimeFeatureLevel() answers
// for levels that have no API level (1000006 for 6). Nothing for other numbers. Of API levels above 31, all that is
// promised is level 5: later ones come to devices by updates of the runtime.
std::optional<int> level_of_api(int64_t api);
// The lowest API level that has the feature level; nothing for levels that no API level promises.
std::optional<int> api_of_level(int level);

}  // namespace nnapi_convert
