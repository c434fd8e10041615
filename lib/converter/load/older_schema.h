// SPDX-License-Identifier: BSD-3-Clause
// Rewrites exported programs of PyTorch 2.1 to 2.5 in the form of later ones.
#pragma once

#include <nlohmann/json.hpp>

namespace nnapi_convert {

// Checks the schema's version, and gives older programs the form of version 8 (torch/_export/serde/schema.py). Throws
// ConvertError: kNotConvertible for other versions, and for older programs that lack what is needed.
void modernise_program(nlohmann::json& program);

}  // namespace nnapi_convert
