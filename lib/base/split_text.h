// Splits text at a separator.
#pragma once

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

}  // namespace nnapi_convert
