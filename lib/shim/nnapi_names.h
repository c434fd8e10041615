// Gives the names of NNAPI's codes for messages.
#pragma once

#include <cstdint>

namespace nnapi_shim {

// Returns "ANEURALNETWORKS_BAD_DATA" for 4; "an unknown result code" for a number that is no result code.
const char* result_name(int32_t code);

// Returns "CONV_2D" for 3; "an operation that this library has no name for" for an unknown code.
const char* operation_name(int32_t code);

}  // namespace nnapi_shim
