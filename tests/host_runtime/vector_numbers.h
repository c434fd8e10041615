// The numbers of the test cases as the bytes of NNAPI's operands, and back.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/format/nnapi_codes.h"

namespace vectors {

bool is_tensor(nnapi_convert::OperandCode type);
std::vector<uint8_t> to_bytes(nnapi_convert::OperandCode type, const std::vector<double>& values);
std::vector<double> from_bytes(nnapi_convert::OperandCode type, const std::vector<uint8_t>& bytes);
// The value as the type holds it.
double rounded_to(nnapi_convert::OperandCode type, double value);

}  // namespace vectors
