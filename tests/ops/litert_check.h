// SPDX-License-Identifier: BSD-3-Clause
// Checks the LiteRT file of a case by rules that need no LiteRT.
#pragma once

#include <string>
#include <vector>

#include "lib/converter/emit/conversion.h"

namespace nnapi_convert {

struct LitertCheck {
  std::vector<std::string> problems;  // by the format and LiteRT's quantisation specification
  std::string dump;                   // the file's text; empty for a model that LiteRT can't run
};

// Writes the file to memory, also with uint8 tensors, and checks both.
LitertCheck check_litert_file(const Conversion& conversion);

}  // namespace nnapi_convert
