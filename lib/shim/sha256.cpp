// SPDX-License-Identifier: BSD-3-Clause
// SHA-256, after FIPS 180-4, sections 5 and 6.
#include "lib/shim/sha256.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "lib/shim/sha256_blocks.h"

namespace nnapi_shim {
namespace {

// The first 32 bits of the fractional parts of the square roots of the first eight primes (section 5.3.3).
constexpr uint32_t kInitialState[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

uint32_t rotate(uint32_t value, int bits) {
  return value >> bits | value << (32 - bits);
}

uint32_t big_endian(const uint8_t* bytes) {
  return static_cast<uint32_t>(bytes[0]) << 24 | static_cast<uint32_t>(bytes[1]) << 16 |
         static_cast<uint32_t>(bytes[2]) << 8 | bytes[3];
}

}  // namespace

Sha256::Sha256() {
  std::copy(std::begin(kInitialState), std::end(kInitialState), state_);
}

void Sha256::add_block(const uint8_t* block) {
  uint32_t schedule[64];
  for (int t = 0; t < 16; ++t) schedule[t] = big_endian(block + 4 * t);
  for (int t = 16; t < 64; ++t) {
    const uint32_t near = schedule[t - 2], far = schedule[t - 15];
    schedule[t] = (rotate(near, 17) ^ rotate(near, 19) ^ near >> 10) + schedule[t - 7] +
                  (rotate(far, 7) ^ rotate(far, 18) ^ far >> 3) + schedule[t - 16];
  }
  uint32_t a = state_[0], b = state_[1], c = state_[2], d = state_[3];
  uint32_t e = state_[4], f = state_[5], g = state_[6], h = state_[7];
  for (int t = 0; t < 64; ++t) {
    const uint32_t first = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) +
                           kSha256RoundConstants[t] + schedule[t];
    const uint32_t second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const uint32_t sums[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) state_[i] += sums[i];
}

void Sha256::add(const void* data, size_t bytes) {
  const auto* next = static_cast<const uint8_t*>(data);
  const size_t waiting = byte_count_ % kBlockBytes;
  byte_count_ += bytes;
  if (waiting > 0) {
    const size_t taken = std::min(bytes, kBlockBytes - waiting);
    if (taken > 0) std::memcpy(rest_ + waiting, next, taken);
    if (waiting + taken < kBlockBytes) return;
    add_block(rest_);
    next += taken;
    bytes -= taken;
  }
  const size_t blocks = bytes / kBlockBytes;
  if (blocks > 0 && add_sha256_blocks(state_, next, blocks)) {
    next += blocks * kBlockBytes;
    bytes -= blocks * kBlockBytes;
  }
  for (; bytes >= kBlockBytes; next += kBlockBytes, bytes -= kBlockBytes) add_block(next);
  if (bytes > 0) std::memcpy(rest_, next, bytes);
}

void Sha256::finish(uint8_t digest[kDigestBytes]) {
  const uint64_t bits = byte_count_ * 8;
  constexpr uint8_t kPadding[kBlockBytes] = {0x80};
  const size_t waiting = byte_count_ % kBlockBytes, length_at = kBlockBytes - 8;
  add(kPadding, waiting < length_at ? length_at - waiting : kBlockBytes + length_at - waiting);
  uint8_t length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<uint8_t>(bits >> (56 - 8 * i));
  add(length, sizeof(length));
  for (int i = 0; i < 32; ++i) digest[i] = static_cast<uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
}

}  // namespace nnapi_shim
