// SPDX-License-Identifier: BSD-3-Clause
// Reads --package: "level=1; level=3,quant=nnapi,per-channel; shape=1,3,320,320".
#pragma once

#include <string>
#include <vector>

#include "lib/types/package_options.h"

namespace nnapi_convert {

// Returns the models. Throws ConvertError (kUsage) with the model's text, the fault, and what is needed.
std::vector<PackageRequest> parse_package(const std::string& text);

}  // namespace nnapi_convert
