// What a case has to show: the golden dump, the feature level, the round trip of the buffer, and execution on the
// host's NNAPI through PyTorch's own loader against TorchScript, in NHWC and NCHW, with fixed and with flexible sizes.
#pragma once

#include <string>
#include <vector>

#include "tests/ops/op_case.h"

namespace nnapi_convert {

// Sentences, one for each thing that is wrong; empty for a case that passes. With `rebase`, the case's golden section
// becomes what it should be. The host's NNAPI library has to be loaded.
std::vector<std::string> check_case(OpCase& op_case, bool rebase);

// The same for a case without a golden section, at its feature level, which need not be the lowest: it may be refused.
struct FreeResult {
  std::vector<std::string> problems;
  std::string refusal;  // the message; empty where the case was converted
};
FreeResult check_free_case(OpCase& op_case);

}  // namespace nnapi_convert
