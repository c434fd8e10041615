// SPDX-License-Identifier: BSD-3-Clause
// Turns failures of the C interface into Java's exceptions.
#pragma once

#include <jni.h>

#include "lib/shim/nnapi_shim.h"

namespace nnapi_shim {

// Throws an org.nnapiconvert.NnapiException for a status that is not OK. Returns whether the status is OK.
bool check(JNIEnv* env, int status, const nnapi_shim_error& error);

}  // namespace nnapi_shim
