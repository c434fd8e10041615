// SPDX-License-Identifier: BSD-3-Clause
// Asks how a text begins; std::string_view has no starts_with() in C++17.
#pragma once

#include <string_view>

namespace nnapi_convert {

inline bool begins_with(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

}  // namespace nnapi_convert
