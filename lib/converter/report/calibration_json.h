// SPDX-License-Identifier: BSD-3-Clause
// Writes the result of quantising by data as JSON for reports.
#pragma once

#include <nlohmann/json.hpp>

#include "lib/quantise/quantised_parts.h"

namespace nnapi_convert {

nlohmann::json to_json(const quantise::QuantisedParts& quantised);

}  // namespace nnapi_convert
