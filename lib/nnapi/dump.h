// The text form of a Model, one operation a line with its arguments by name: what --dump-after prints and golden tests
// compare.
#pragma once

#include <string>

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

std::string to_text(const Model& model);
// "quant8[1, 8, 8, 3] scale 0.5 zero_point 128".
std::string type_text(const Operand& operand);

}  // namespace nnapi_convert::nnapi
