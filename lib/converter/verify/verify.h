// SPDX-License-Identifier: BSD-3-Clause
// Runs an original model and its converted form on the same inputs on this machine and compares the results. The
// converted form runs through stock PyTorch's NNAPI loader on the host's NNAPI (libneuralnetworks.so).
#pragma once

#include "lib/base/host_library.h"
#include "lib/converter/verify/verification.h"
#include "lib/converter/verify/verify_request.h"

namespace nnapi_convert {

// Compares the files of the request. Throws ConvertError: kBadFile for files that can't be read, kVerificationFailed if
// a model fails to run.
Verification verify(const VerifyRequest& request);

}  // namespace nnapi_convert
