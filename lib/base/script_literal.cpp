// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/script_literal.h"

#include <fmt/format.h>

namespace nnapi_convert {

// Escapes each byte that is not printable ASCII. LibTorch's own function for literals writes letters beyond ASCII in a
// way that LibTorch can't read back.
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
