// SPDX-License-Identifier: BSD-3-Clause
// Writes percentages for people, rounded down: 99.97 % becomes 99.9, not 100.0.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace nnapi_convert {

// Returns a text such as "99.9" for numbers that are not negative; "0.0" if `all` is 0.
inline std::string percent_text(int64_t part, int64_t all) {
  if (all <= 0) return "0.0";
  __extension__ using Wide = __int128;
  const auto tenths = static_cast<int64_t>(Wide{part} * 1000 / all);
  return fmt::format("{}.{}", tenths / 10, tenths % 10);
}

}  // namespace nnapi_convert
