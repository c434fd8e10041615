// The feature level that the library pretends to have.
#pragma once

namespace nnapi_convert::host {

// NNAPI_HOST_FEATURE_LEVEL, 1 to 8; 8 if unset. Fails on any other value.
int offered_feature_level();

}  // namespace nnapi_convert::host
