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

}  // namespace nnapi_shim
