// SPDX-License-Identifier: BSD-3-Clause
// Says in this program's words why LibTorch can't read a file.
#pragma once

#include <exception>
#include <string>

namespace nnapi_convert {

// Returns the problem, such as "not a TorchScript archive: entry data.pkl is missing", to stand behind "can't read
// PATH: ". Throws std::bad_alloc where the error says that memory is full.
std::string read_problem(const std::exception& error);

}  // namespace nnapi_convert
