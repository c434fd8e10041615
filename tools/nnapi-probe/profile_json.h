// A device's profile as text, by schemas/device_profile.schema.json.
#pragma once

#include <string>
#include <vector>

#include "lib/shim/devices.h"
#include "tools/nnapi-probe/rules.h"

namespace nnapi_probe {

// Operations of which no answer is known are refused, with that as their reason.
std::string profile_json(const nnapi_shim::Device& device, const std::vector<AnsweredGrid>& grids);

}  // namespace nnapi_probe
