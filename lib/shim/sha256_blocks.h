// Computes the blocks of SHA-256 with the processor's SHA instructions.
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
