// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/failure.h"

#include <cstdarg>
#include <cstdio>

namespace nnapi_shim {
namespace {

[[gnu::format(printf, 4, 0)]] int write(nnapi_shim_error* error, nnapi_shim_status status, int nnapi_code,
                                        const char* format, va_list arguments) {
  if (error != nullptr) {
    error->status = status;
    error->nnapi_code = nnapi_code;
    std::vsnprintf(error->message, sizeof error->message, format, arguments);
  }
  return status;
}

}  // namespace

int fail(nnapi_shim_error* error, nnapi_shim_status status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write(error, status, 0, format, arguments);
  va_end(arguments);
  return status;
}

int fail_with(nnapi_shim_error* error, nnapi_shim_status status, int nnapi_code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write(error, status, nnapi_code, format, arguments);
  va_end(arguments);
  return status;
}

bool damaged(nnapi_shim_error* error, size_t word, const char* format, ...) {
  char problem[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(problem, sizeof problem, format, arguments);
  va_end(arguments);
  fail(error, NNAPI_SHIM_BAD_MODEL, "damaged model buffer at word %zu: %s; copy or convert the model again", word,
       problem);
  return false;
}

}  // namespace nnapi_shim
