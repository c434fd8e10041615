// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/script_literal.h"

#include <fmt/format.h>

namespace nnapi_convert {

// Writes every other character than ASCII's printable ones by its bytes: LibTorch's own function for it writes letters
// beyond ASCII so that LibTorch can't read them.
std::string string_literal(const std::string& text) {
  std::string literal = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      literal += std::string("\\") + letter;
    } else if (letter >= ' ' && letter <= '~') {
      literal += letter;
    } else {
      literal += fmt::format("\\{:03o}", static_cast<unsigned char>(letter));
    }
  }
  return literal + '"';
}

}  // namespace nnapi_convert
