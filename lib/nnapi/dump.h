// SPDX-License-Identifier: BSD-3-Clause
// Writes a Model as text, one operation a line with its arguments by name. --dump-after prints this text, and golden
// tests compare it.
#pragma once

#include <string>

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

std::string to_text(const Model& model);
// Returns a text such as "quant8[1, 8, 8, 3] scale 0.5 zero_point 128".
std::string type_text(const Operand& operand);

}  // namespace nnapi_convert::nnapi
