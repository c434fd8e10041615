// SPDX-License-Identifier: BSD-3-Clause
// JSON values that the reports of a conversion and of a check share.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "lib/base/diagnostics.h"

namespace nnapi_convert {

inline nlohmann::json optional_json(const std::optional<int64_t>& number) {
  return number ? nlohmann::json(*number) : nlohmann::json(nullptr);
}

inline std::string text_or_unknown(const std::optional<int64_t>& number) {
  return number ? std::to_string(*number) : "unknown";
}

inline nlohmann::json refusal_json(const Refusal& refusal) {
  return {{"where", refusal.where},
          {"op", refusal.op},
          {"found", refusal.found},
          {"needed", refusal.needed},
          {"hint", refusal.hint}};
}

}  // namespace nnapi_convert
