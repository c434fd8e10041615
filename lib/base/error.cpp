// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/error.h"

#include <fmt/format.h>

namespace nnapi_convert {

void assertion_failed(const char* condition, const char* file, int line, const std::string& detail) {
  throw std::logic_error(fmt::format("{}:{}: broken invariant `{}`: {}", file, line, condition, detail));
}

}  // namespace nnapi_convert
