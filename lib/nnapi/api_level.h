// SPDX-License-Identifier: BSD-3-Clause
// Converts between Android's API levels and NNAPI's feature levels (NNAPI's versions).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nnapi_convert {

constexpr int kLevelOfNchw = 3;  // the first feature level that has NCHW
constexpr int kLoadersApi = 29;  // the API level that PyTorch's loader needs

// Returns the feature level of an Android API level (27 and higher), or of a code that
// ANeuralNetworks_getRuntimeFeatureLevel() returns for levels without an API level (1000006 for 6). Returns nothing for
// other numbers. An API level above 31 promises only feature level 5: runtime updates bring later levels to devices.
std::optional<int> level_of_api(int64_t api);
// Returns the lowest API level that has the feature level; nothing for levels that no API level promises.
std::optional<int> api_of_level(int level);
// Returns the option that asks for the feature level: "--min-api 30 (feature level 4)", or "--feature-level 7" for a
// level that no API level promises.
std::string option_for_level(int level);
// Returns Android's version of an API level that is the first of a feature level: "8.1" for 27. An empty text for
// others.
const char* android_of_api(int api);

}  // namespace nnapi_convert
