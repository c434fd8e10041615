// Gives the names of NNAPI's codes for messages, and the codes of names.
#pragma once

#include <cstdint>

namespace nnapi_shim {

// Returns "ANEURALNETWORKS_BAD_DATA" for 4; "an unknown result code" for a number that is no result code.
const char* result_name(int32_t code);

// Returns "CONV_2D" for 3; "an operation that this library has no name for" for an unknown code.
const char* operation_name(int32_t code);

// Set the code of an operation, or of a tensor's type, by its name; return whether there is one.
bool operation_code(const char* name, int32_t* code);
bool tensor_code(const char* name, int32_t* code);

}  // namespace nnapi_shim
