// SPDX-License-Identifier: BSD-3-Clause
// Reads numbers and truth values as people write them in options.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

namespace nnapi_convert {

inline std::optional<int64_t> whole_number(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

inline std::optional<double> decimal_number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return text.empty() || *end != '\0' || std::isnan(value) ? std::nullopt : std::optional(value);
}

inline std::optional<bool> true_or_false(const std::string& text) {
  if (text == "true" || text == "True") return true;
  return text == "false" || text == "False" ? std::optional(false) : std::nullopt;
}

}  // namespace nnapi_convert
