// SPDX-License-Identifier: BSD-3-Clause
// Computes the blocks of SHA-256 with the processor's SHA instructions.
//
// With a cache directory each start hashes all weights for the token of the cached compilation. 100 MB take 0.09 to
// 0.13 s with the instructions of x86-64, memory that is touched first included, and 0.54 s without them (GCC's -Os,
// one core), and libc has no SHA-256.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nnapi_shim {

constexpr size_t kSha256BlockBytes = 64;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, section 4.2.2).
extern const uint32_t kSha256RoundConstants[64];

// Adds whole blocks to the eight words of state. Returns false and does nothing if the processor or the compiler's
// options for this file lack the instructions: arm64 needs -march=armv8-a+crypto.
bool add_sha256_blocks(uint32_t state[8], const uint8_t* data, size_t block_count);

}  // namespace nnapi_shim
