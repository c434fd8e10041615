// SPDX-License-Identifier: BSD-3-Clause
// Loads NNAPI's library and looks up its functions and its feature level. A function that the library lacks is null.
//
// A library is either the system's libneuralnetworks.so (or a library with the same exports), or an NNAPI support
// library: drivers that come with an app. A support library gives its functions as a table, by
// ANeuralNetworks_getSLDriverImpl (feature level 5 and later).
#pragma once

#include <cstdint>

#include "lib/shim/failure.h"
#include "lib/shim/nnapi_types.h"

namespace nnapi_shim {

struct NnapiFunctions {
#define NNAPI_SHIM_FUNCTION(level, result, name, parameters) result(*name) parameters = nullptr;
#define NNAPI_SHIM_SYSTEM_FUNCTION(level, result, name, parameters) result(*name) parameters = nullptr;
#define NNAPI_SHIM_UNUSED(level, name)
#include "lib/shim/nnapi_functions.inc"
#undef NNAPI_SHIM_FUNCTION
#undef NNAPI_SHIM_SYSTEM_FUNCTION
#undef NNAPI_SHIM_UNUSED
};

struct NnapiLibrary : NnapiFunctions {
  // 1 to 8; later versions of Android may have more. Comes from ANeuralNetworks_getRuntimeFeatureLevel; without that
  // function, it is the level of the newest function found.
  uint32_t feature_level = 0;
  bool is_support_library = false;
};

// Turns NNAPI's code of a feature level (27 to 31, then 1000006 and up) into a level counted from 1; 0 for other codes.
uint32_t level_from_code(int64_t code);

// Opens the library at `path` (null: libneuralnetworks.so) once per path and kind: later calls, from any thread, get
// the same library, and it stays loaded until the process ends. NNAPI_SHIM_UNAVAILABLE if there is no such library or
// if it lacks a function that every model needs.
int load_nnapi(const char* path, bool is_support_library, const NnapiLibrary** library, nnapi_shim_error* error);

}  // namespace nnapi_shim
