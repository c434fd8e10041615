// Writes what a device refuses in another form that it takes: padding of a convolution that is neither SAME nor VALID
// becomes a PAD before it. Runs after the layout is chosen.
#pragma once

#include "lib/nnapi/device_profile.h"
#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Operations that the device takes, or takes in neither form, stay as they are.
void fit_device(Model& model, const DeviceProfile& device, int feature_level);

}  // namespace nnapi_convert::nnapi
