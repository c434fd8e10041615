// SPDX-License-Identifier: BSD-3-Clause
// Uses the SHA extensions of x86-64 or the SHA2 instructions of arm64's cryptography extension.
#include "lib/shim/sha256_blocks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#elif defined(__aarch64__) && defined(__ARM_FEATURE_SHA2)
#include <arm_neon.h>
#include <sys/auxv.h>
#endif

namespace nnapi_shim {

const uint32_t kSha256RoundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

#if defined(__x86_64__)
namespace {

bool has_instructions() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kSha = 1U << 29, kSsse3 = 1U << 9;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kSsse3) == 0) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kSha) != 0;
}

__m128i* vector_at(uint32_t* words) {
  return reinterpret_cast<__m128i*>(words);
}
const __m128i* vector_at(const void* bytes) {
  return static_cast<const __m128i*>(bytes);
}

// The instructions take the state's words a to h in two registers: abef and cdgh, the first word highest.
__attribute__((target("sha,ssse3"))) void add_blocks(uint32_t* state, const uint8_t* data, size_t block_count) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const __m128i dcba = _mm_loadu_si128(vector_at(state)), hgfe = _mm_loadu_si128(vector_at(state + 4));
  __m128i abef = _mm_shuffle_epi32(_mm_unpacklo_epi64(hgfe, dcba), 0xb1);
  __m128i cdgh = _mm_shuffle_epi32(_mm_unpackhi_epi64(hgfe, dcba), 0xb1);
  for (; block_count > 0; --block_count, data += kSha256BlockBytes) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i words[4];
    for (int i = 0; i < 16; ++i) {
      __m128i& now = words[i % 4];
      if (i < 4) {
        now = _mm_shuffle_epi8(_mm_loadu_si128(vector_at(data + 16 * i)), swap);
      } else {
        const __m128i before = words[(i + 3) % 4];  // of the last four words
        now = _mm_add_epi32(_mm_sha256msg1_epu32(now, words[(i + 1) % 4]),
                            _mm_alignr_epi8(before, words[(i + 2) % 4], 4));
        now = _mm_sha256msg2_epu32(now, before);
      }
      const __m128i sum = _mm_add_epi32(now, _mm_loadu_si128(vector_at(kSha256RoundConstants + 4 * i)));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0xb1), hgdc = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(vector_at(state), _mm_unpackhi_epi64(feba, hgdc));
  _mm_storeu_si128(vector_at(state + 4), _mm_unpacklo_epi64(feba, hgdc));
}

}  // namespace
#elif defined(__aarch64__) && defined(__ARM_FEATURE_SHA2)
namespace {

bool has_instructions() {
  constexpr unsigned long kSha2 = 1UL << 6;  // HWCAP_SHA2
  return (getauxval(AT_HWCAP) & kSha2) != 0;
}

void add_blocks(uint32_t* state, const uint8_t* data, size_t block_count) {
  uint32x4_t abcd = vld1q_u32(state), efgh = vld1q_u32(state + 4);
  for (; block_count > 0; --block_count, data += kSha256BlockBytes) {
    const uint32x4_t abcd_before = abcd, efgh_before = efgh;
    uint32x4_t words[4];
    for (int i = 0; i < 16; ++i) {
      uint32x4_t& now = words[i % 4];
      if (i < 4) {
        now = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(data + 16 * i)));
      } else {
        now = vsha256su1q_u32(vsha256su0q_u32(now, words[(i + 1) % 4]), words[(i + 2) % 4], words[(i + 3) % 4]);
      }
      const uint32x4_t sum = vaddq_u32(now, vld1q_u32(kSha256RoundConstants + 4 * i));
      const uint32x4_t abcd_now = abcd;
      abcd = vsha256hq_u32(abcd, efgh, sum);
      efgh = vsha256h2q_u32(efgh, abcd_now, sum);
    }
    abcd = vaddq_u32(abcd, abcd_before);
    efgh = vaddq_u32(efgh, efgh_before);
  }
  vst1q_u32(state, abcd);
  vst1q_u32(state + 4, efgh);
}

}  // namespace
#else
namespace {

bool has_instructions() {
  return false;
}
void add_blocks(uint32_t*, const uint8_t*, size_t) {}

}  // namespace
#endif

bool add_sha256_blocks(uint32_t state[8], const uint8_t* data, size_t block_count) {
  if (!has_instructions()) return false;
  add_blocks(state, data, block_count);
  return true;
}

}  // namespace nnapi_shim
