// Names of NNAPI's codes, for messages.
#pragma once

#include <cstdint>

namespace nnapi_shim {

// "ANEURALNETWORKS_BAD_DATA" for 4; "an unknown result code" for what is none.
const char* result_name(int32_t code);

// "CONV_2D" for 3; "an operation that this library has no name for" for what it does not know.
const char* operation_name(int32_t code);

}  // namespace nnapi_shim
