// SPDX-License-Identifier: BSD-3-Clause
// Checks the nesting of a JSON text before it is read. nlohmann's library copies and prints nested values by recursion,
// so a text with a hundred thousand brackets would overflow the stack.
#pragma once

#include <cstddef>
#include <string_view>

namespace nnapi_convert {

constexpr std::size_t kMostNestedJson = 100;

// Returns true if lists and objects are nested deeper than kMostNestedJson. The text need not be valid JSON.
inline bool is_nested_too_deep(std::string_view text) {
  std::size_t depth = 0;
  bool is_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (is_string && letter == '\\') {
      ++i;
    } else if (letter == '"') {
      is_string = !is_string;
    } else if (!is_string && (letter == '[' || letter == '{')) {
      if (++depth > kMostNestedJson) return true;
    } else if (!is_string && (letter == ']' || letter == '}')) {
      depth -= depth == 0 ? 0 : 1;
    }
  }
  return false;
}

}  // namespace nnapi_convert
