// SPDX-License-Identifier: BSD-3-Clause
// Makes random cases: short chains of operators with random shapes and arguments that PyTorch can run.
#pragma once

#include <cstdint>

#include "tests/ops/op_case.h"

namespace nnapi_convert {

// Returns the same case for the same seed. Its outputs are finite and of moderate size.
OpCase random_case(uint64_t seed);

}  // namespace nnapi_convert
