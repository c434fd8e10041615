// SHA-256, after FIPS 180-4, sections 5 and 6.
#include "lib/shim/sha256.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace nnapi_shim {
namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (section 4.2.2).
constexpr uint32_t kRoundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// The same of the square roots of the first eight primes (section 5.3.3).
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
    const uint32_t first =
        h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + kRoundConstants[t] + schedule[t];
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
