// SPDX-License-Identifier: BSD-3-Clause
// Writes a device's profile as JSON (schemas/device_profile.schema.json).
#pragma once

#include <string>
#include <vector>

#include "lib/shim/devices.h"
#include "tools/nnapi-probe/rules.h"

namespace nnapi_probe {

// Returns the profile. It refuses operations without an answer, and gives that as the reason.
std::string profile_json(const nnapi_shim::Device& device, const std::vector<AnsweredGrid>& grids);

}  // namespace nnapi_probe
