// SPDX-License-Identifier: BSD-3-Clause
// Turns failures and exceptions into a result code and a sentence on stderr.
#pragma once

#include <functional>

#include "lib/format/nnapi_codes.h"

namespace nnapi_convert::host {

// Returns the result code for the current exception; call it in an exception handler.
ResultCode code_of_exception();
// Returns the result code for the current exception and prints its sentence on stderr; call it in a handler.
ResultCode report_exception();

template <typename Body>
ResultCode guarded_code(const Body& body) {
  try {
    body();
    return ResultCode::NO_ERROR;
  } catch (...) {
    return report_exception();
  }
}

}  // namespace nnapi_convert::host
