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

}  // namespace nnapi_convert
