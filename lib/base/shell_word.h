// SPDX-License-Identifier: BSD-3-Clause
// Writes commands in messages so that users can paste them into a shell.
#pragma once

#include <string>

namespace nnapi_convert {

// Returns the text as a shell reads it back as one word.
inline std::string shell_word(const std::string& word) {
  constexpr const char* kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=:,./@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string result = "'";
  for (const char letter : word) result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return result + "'";
}

}  // namespace nnapi_convert
