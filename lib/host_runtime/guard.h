// The border of the library: failures and exceptions turned into a code and a sentence on stderr.
#pragma once

#include <functional>

#include "lib/format/nnapi_codes.h"

namespace nnapi_convert::host {

// The code of the exception in flight; to be called in a handler.
ResultCode code_of_exception();
// The same, and its sentence on stderr.
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
