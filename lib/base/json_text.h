// SPDX-License-Identifier: BSD-3-Clause
// Writes JSON as text. The values may hold any bytes: names of files and of a model's values need not be UTF-8.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace nnapi_convert {

// Returns the JSON text on one line, or on lines indented by `indent` columns. U+FFFD replaces bytes that are not
// UTF-8.
inline std::string json_text(const nlohmann::json& value, int indent = -1, bool is_ascii = false) {
  return value.dump(indent, ' ', is_ascii, nlohmann::json::error_handler_t::replace);
}

}  // namespace nnapi_convert
