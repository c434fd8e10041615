// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/nnapi_names.h"

#include <cstring>

#include "lib/format/code_names.h"
#include "lib/format/nnapi_codes.h"

namespace nnapi_shim {
namespace {

// Returns name number `number` of the list, which an empty text ends; `unknown` for a number outside the list.
const char* name_at(const char* names, int32_t number, const char* unknown) {
  if (number < 0) return unknown;
  for (; *names != '\0'; names += std::strlen(names) + 1) {
    if (number-- == 0) return names;
  }
  return unknown;
}

// Sets the number of the name in the list; returns whether it is there.
bool number_of(const char* names, const char* name, int32_t* number) {
  *number = 0;
  for (; *names != '\0'; names += std::strlen(names) + 1, ++*number) {
    if (std::strcmp(names, name) == 0) return true;
  }
  return false;
}

}  // namespace

const char* result_name(int32_t code) {
  return name_at(nnapi_convert::kResultNames, code, "an unknown result code");
}

bool is_deadline(int32_t code) {
  return code == static_cast<int32_t>(nnapi_convert::ResultCode::MISSED_DEADLINE_TRANSIENT) ||
         code == static_cast<int32_t>(nnapi_convert::ResultCode::MISSED_DEADLINE_PERSISTENT);
}

const char* operation_name(int32_t code) {
  return name_at(nnapi_convert::kOperationNames, code, "an operation that this library has no name for");
}

bool operation_code(const char* name, int32_t* code) {
  return number_of(nnapi_convert::kOperationNames, name, code);
}

bool tensor_code(const char* name, int32_t* code) {
  return std::strncmp(name, "TENSOR_", 7) == 0 && name[7] != '-' &&
         number_of(nnapi_convert::kTensorNames, name + 7, code);
}

}  // namespace nnapi_shim
