// SPDX-License-Identifier: BSD-3-Clause
// Writes literals of TorchScript.
#pragma once

#include <string>

namespace nnapi_convert {

// Returns the literal of a text of any characters.
std::string string_literal(const std::string& text);

}  // namespace nnapi_convert
