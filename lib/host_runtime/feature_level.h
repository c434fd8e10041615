// The feature level that the library pretends to have, and which of its functions that level has.
#pragma once

#include <cstdint>

namespace nnapi_convert::host {

// The highest level of this library file: those in the folders level1 to level4 have fewer functions than
// libneuralnetworks.so itself (library_level.cpp).
extern const int kLibraryFeatureLevel;

// NNAPI_HOST_FEATURE_LEVEL, 1 to the library's own; that one if the variable is unset or has another value.
int offered_feature_level();
// What the API answers for a level: 27 for 1, 1000008 for 8.
int64_t feature_level_code(int level);
// The level that a function of the C interface came with.
int level_of_function(const char* name);

}  // namespace nnapi_convert::host
