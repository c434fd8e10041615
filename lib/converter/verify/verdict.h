// SPDX-License-Identifier: BSD-3-Clause
// Judges whether a converted model passes, once its results are compared, and writes what is told of it.
#pragma once

#include <string>

#include "lib/converter/verify/verification.h"
#include "lib/converter/verify/verify_request.h"

namespace nnapi_convert {

// Sets `passed`, and `criterion`, which says in words what was needed: of a float model the error, of a quantised one
// the distance from its original, or with a reference the distance of both from the float model.
void judge(Verification& result, const VerifyRequest& request);

// Returns a table for the terminal.
std::string to_text(const Verification& verification);

}  // namespace nnapi_convert
