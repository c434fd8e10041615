// SPDX-License-Identifier: BSD-3-Clause
// Defines the highest feature level of a library file; the build sets it for each file.
#include "lib/host_runtime/feature_level.h"

namespace nnapi_convert::host {

const int kLibraryFeatureLevel = NNAPI_HOST_LIBRARY_LEVEL;

}  // namespace nnapi_convert::host
