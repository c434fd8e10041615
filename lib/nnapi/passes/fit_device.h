// SPDX-License-Identifier: BSD-3-Clause
// Rewrites operations that a device refuses in a form that it accepts: explicit padding of a convolution that is
// neither SAME nor VALID becomes a PAD before the convolution. Runs after the layout is chosen.
#pragma once

#include "lib/nnapi/device_profile.h"
#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Leaves an operation as it is if the device accepts it, or refuses both forms.
void fit_device(Model& model, const DeviceProfile& device, int feature_level);

}  // namespace nnapi_convert::nnapi
