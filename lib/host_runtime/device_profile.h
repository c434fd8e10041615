// SPDX-License-Identifier: BSD-3-Clause
// Judges operations of a Model by a device's profile (lib/format/device_profile.h).
#pragma once

#include <string>

#include "lib/format/device_profile.h"
#include "lib/host_runtime/model.h"

namespace nnapi_convert::host {

// Reads a profile. Fails with a sentence if the file is missing or is not a valid profile.
DeviceRules read_profile(const std::string& path);

// Returns why the device of the profile does not support an operation of a finished model; empty if it does.
std::string profile_refusal(const DeviceRules& profile, const Model& model, const Operation& operation);

}  // namespace nnapi_convert::host
