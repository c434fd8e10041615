// SPDX-License-Identifier: BSD-3-Clause
// Takes texts apart.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nnapi_convert {

// Returns the parts between separators, empty ones too; of an empty text one empty part.
inline std::vector<std::string> split_text(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char letter : text) {
    if (letter == separator) {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

// Returns the first line with text: LibTorch's messages have a backtrace on the next lines.
inline std::string first_line(const std::string& text) {
  const size_t begin = text.find_first_not_of('\n');
  return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace nnapi_convert
