// How functions of the shim's core tell why they failed: one sentence for people, in the C interface's own struct.
#pragma once

#include "lib/shim/nnapi_shim.h"

namespace nnapi_shim {

// Writes the sentence, cut to its room, and returns `status`. `error` may be null.
[[gnu::format(printf, 3, 4)]] int fail(nnapi_shim_error* error, nnapi_shim_status status, const char* format, ...);
// The same, with what NNAPI answered.
[[gnu::format(printf, 4, 5)]] int fail_with(nnapi_shim_error* error, nnapi_shim_status status, int nnapi_code,
                                            const char* format, ...);

// Fails by NNAPI_SHIM_BAD_MODEL, with a sentence of the form "damaged model buffer at word 7: ...; copy or convert the
// model again". Always returns false, so that checks can return it.
[[gnu::format(printf, 3, 4)]] bool damaged(nnapi_shim_error* error, size_t word, const char* format, ...);

}  // namespace nnapi_shim
