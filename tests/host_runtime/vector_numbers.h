// SPDX-License-Identifier: BSD-3-Clause
// Converts between the numbers of the test cases and the bytes of NNAPI's operands.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/format/nnapi_codes.h"

namespace vectors {

bool is_tensor(nnapi_convert::OperandCode type);
std::vector<uint8_t> to_bytes(nnapi_convert::OperandCode type, const std::vector<double>& values);
std::vector<double> from_bytes(nnapi_convert::OperandCode type, const std::vector<uint8_t>& bytes);
// Returns the value rounded to the type.
double rounded_to(nnapi_convert::OperandCode type, double value);

}  // namespace vectors
