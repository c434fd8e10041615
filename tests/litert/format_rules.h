// SPDX-License-Identifier: BSD-3-Clause
// Checks a LiteRT file against the format: numbers of operators and of their options, tensors in an order that runs,
// and shapes that options and inputs ask for. The numbers stand here once more, as the writer and the reader share
// theirs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nnapi_convert::litert::testing {

// Returns a line for each fault.
std::vector<std::string> format_problems(std::string_view file);

}  // namespace nnapi_convert::litert::testing
