// NNAPI's library: its functions, each looked up by its own name and null where the library lacks it, and its level.
//
// A library is either the system's libneuralnetworks.so (or one with its exports), or an NNAPI support library: drivers
// that come with an app, reached by the function table of ANeuralNetworks_getSLDriverImpl (feature level 5 and later).
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
  // 1 to 8, or more if Android goes on. What getRuntimeFeatureLevel says; without that function, the level of the
  // newest function found.
  uint32_t feature_level = 0;
  bool is_support_library = false;
};

// Levels as NNAPI gives them (27 to 31, then 1000006 and up) counted from 1; 0 for what is none.
uint32_t level_from_code(int64_t code);

// Opens the library at `path` (null: libneuralnetworks.so), once per path and kind: later calls, from any thread, get
// the same one, which stays loaded as long as the process. NNAPI_SHIM_UNAVAILABLE if there is none or if it lacks what
// any model needs.
int load_nnapi(const char* path, bool is_support_library, const NnapiLibrary** library, nnapi_shim_error* error);

}  // namespace nnapi_shim
