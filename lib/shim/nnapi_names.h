// SPDX-License-Identifier: BSD-3-Clause
// Gives the names of NNAPI's codes for messages, and the codes of names.
#pragma once

#include <cstdint>
#include <string>

namespace nnapi_shim {

// Returns "ANEURALNETWORKS_BAD_DATA" for 4; "an unknown result code" for a number that is no result code.
const char* result_name(int32_t code);

// Returns whether the code says that the time of a timeout was over.
bool is_deadline(int32_t code);

// Returns the names of chosen devices; for an empty text, that NNAPI chose.
inline const char* devices_text(const std::string& names) {
  return names.empty() ? "the device that NNAPI chose" : names.c_str();
}

// Returns "CONV_2D" for 3; "an operation that this library has no name for" for an unknown code.
const char* operation_name(int32_t code);

// Set the code of an operation, or of a tensor's type, by its name; return whether there is one.
bool operation_code(const char* name, int32_t* code);
bool tensor_code(const char* name, int32_t* code);

}  // namespace nnapi_shim
