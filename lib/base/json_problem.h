// SPDX-License-Identifier: BSD-3-Clause
// Says in this program's words what is wrong with a JSON text.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

namespace nnapi_convert {

// Returns a sentence such as "no JSON: byte 12 is not what may stand there".
inline std::string json_problem(const nlohmann::json::exception& error) {
  using nlohmann::json;
  if (const auto* syntax = dynamic_cast<const json::parse_error*>(&error)) {
    return fmt::format("no JSON: byte {} is not what may stand there", syntax->byte);
  }
  constexpr int kMissingKey = 403;  // "... key 'NAME' not found"
  if (error.id != kMissingKey) return "a value of another kind found than needed";
  const std::string text = error.what();
  const size_t begin = text.find('\'') + 1, end = text.rfind('\'');
  return fmt::format("\"{}\" is missing", text.substr(begin, end - begin));
}

}  // namespace nnapi_convert
