// SPDX-License-Identifier: BSD-3-Clause
// Reports failures of the shim's core: one sentence for people, in the error struct of the C interface.
#pragma once

#include "lib/shim/nnapi_shim.h"

namespace nnapi_shim {

// Writes the sentence into `error`, cut to the size of its message, and returns `status`. `error` may be null.
[[gnu::format(printf, 3, 4)]] int fail(nnapi_shim_error* error, nnapi_shim_status status, const char* format, ...);
// Works as fail(), and also keeps NNAPI's result code.
[[gnu::format(printf, 4, 5)]] int fail_with(nnapi_shim_error* error, nnapi_shim_status status, int nnapi_code,
                                            const char* format, ...);

// Fails with NNAPI_SHIM_BAD_MODEL and a sentence of the form "damaged model buffer at word 7: ...; copy or convert the
// model again". Always returns false, so that checks can return it.
[[gnu::format(printf, 3, 4)]] bool damaged(nnapi_shim_error* error, size_t word, const char* format, ...);

}  // namespace nnapi_shim
