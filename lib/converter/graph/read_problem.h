// SPDX-License-Identifier: BSD-3-Clause
// Says in this program's words why LibTorch can't read a file.
#pragma once

#include <exception>
#include <string>

namespace nnapi_convert {

// Returns the problem behind a colon, such as ": entry data.pkl is missing"; empty if LibTorch's error tells nothing
// that a reader of the message knows.
std::string read_problem(const std::exception& error);

}  // namespace nnapi_convert
