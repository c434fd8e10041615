// SPDX-License-Identifier: BSD-3-Clause
// Marks a function that is a loop over numbers: the compiler makes a second form of it for AVX2, and the form that fits
// the processor runs. Both forms give the same numbers, as AVX2 alone has no fused multiply-add.
#pragma once

// Not for Clang and not with sanitizers: with them, programs whose functions choose their form at the start can't run.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
#define NNAPI_HOST_VECTORISED __attribute__((target_clones("avx2", "default")))
#else
#define NNAPI_HOST_VECTORISED
#endif
