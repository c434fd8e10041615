// SPDX-License-Identifier: BSD-3-Clause
// Writes numbers of things for people: "1 sample", "2 samples".
#pragma once

#include <fmt/format.h>

#include <string>

namespace nnapi_convert {

// Returns the number and the thing, which gets an "s" unless there is one.
template <typename Number>
std::string counted(Number number, const char* thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

}  // namespace nnapi_convert
