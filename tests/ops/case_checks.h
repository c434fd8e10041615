// SPDX-License-Identifier: BSD-3-Clause
// Checks a case: the golden dump, the feature level, the round trip of the buffer, and execution on the host's NNAPI
// through PyTorch's own loader against TorchScript, in NHWC and NCHW, with fixed and with flexible sizes.
#pragma once

#include <string>
#include <vector>

#include "tests/ops/op_case.h"

namespace nnapi_convert {

// What to do with a case's golden section. The section holds for a converter built with GCC: the order of some
// operations follows the order in which the compiler evaluates arguments.
enum class Golden { kCompare, kRebase, kIgnore };

// Returns a sentence for each error; empty for a case that passes. The host's NNAPI library has to be loaded.
std::vector<std::string> check_case(OpCase& op_case, Golden golden);

// The result for a case without a golden section. Its feature level need not be the lowest, and it may be refused.
struct FreeResult {
  std::vector<std::string> problems;
  std::string refusal;  // the message; empty if the case was converted
};
FreeResult check_free_case(OpCase& op_case);

}  // namespace nnapi_convert
