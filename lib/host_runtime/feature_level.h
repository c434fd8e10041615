// SPDX-License-Identifier: BSD-3-Clause
// Tells the feature level that the library offers, and the level that added each function of the C interface.
#pragma once

#include <cstdint>

namespace nnapi_convert::host {

// The highest level of this library file. The files in the folders level1 to level4 have fewer functions than the main
// libneuralnetworks.so (library_level.cpp).
extern const int kLibraryFeatureLevel;

// Returns NNAPI_HOST_FEATURE_LEVEL if it is a level from 1 to kLibraryFeatureLevel, otherwise kLibraryFeatureLevel.
int offered_feature_level();
// Returns NNAPI's code of a level: 27 for 1, 1000008 for 8.
int64_t feature_level_code(int level);
// Returns the level that added a function of the C interface.
int level_of_function(const char* name);

}  // namespace nnapi_convert::host
