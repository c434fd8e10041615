#include "lib/host_runtime/kernels/fingerprint.h"

#include <cstring>
#include <utility>

namespace nnapi_convert::host {
namespace {

constexpr uint64_t kPrime0 = 0xc3a5c85c97cb3127, kPrime1 = 0xb492b66fbe98f273, kPrime2 = 0x9ae16a3b2f90404f;
constexpr std::size_t kBlock = 64;

template <typename T>
uint64_t load(const uint8_t* bytes) {
  T value;  // little-endian, as the hosts are
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

uint64_t load64(const uint8_t* bytes) {
  return load<uint64_t>(bytes);
}

uint64_t rotate(uint64_t value, int right) {
  return (value >> right) | (value << (64 - right));
}

uint64_t fold(uint64_t value) {
  return value ^ (value >> 47);
}

uint64_t mix(uint64_t a, uint64_t b, uint64_t factor) {
  return fold((b ^ fold((a ^ b) * factor)) * factor) * factor;
}

uint64_t factor_for(std::size_t length) {
  return kPrime2 + length * 2;
}

uint64_t hash_upto_16(const uint8_t* bytes, std::size_t length) {
  if (length == 0) return kPrime2;
  if (length < 4) {
    const uint64_t first = bytes[0] + (static_cast<uint64_t>(bytes[length >> 1]) << 8);
    const uint64_t last = length + (static_cast<uint64_t>(bytes[length - 1]) << 2);
    return fold((first * kPrime2) ^ (last * kPrime0)) * kPrime2;
  }
  const uint64_t factor = factor_for(length);
  if (length < 8) {
    return mix(length + (load<uint32_t>(bytes) << 3), load<uint32_t>(bytes + length - 4), factor);
  }
  const uint64_t first = load64(bytes) + kPrime2, last = load64(bytes + length - 8);
  return mix(rotate(last, 37) * factor + first, (rotate(first, 25) + last) * factor, factor);
}

// Four words of a key of 17 bytes or more: the first two and, weighed, the last two.
struct Ends {
  uint64_t first, second, last, last_but_one;
  Ends(const uint8_t* bytes, std::size_t length, uint64_t weight, uint64_t factor)
      : first(load64(bytes) * weight),
        second(load64(bytes + 8)),
        last(load64(bytes + length - 8) * factor),
        last_but_one(load64(bytes + length - 16) * kPrime2) {}
  uint64_t one() const { return rotate(first + second, 43) + rotate(last, 30) + last_but_one; }
  uint64_t other() const { return first + rotate(second + kPrime2, 18) + last; }
};

uint64_t hash_upto_32(const uint8_t* bytes, std::size_t length) {
  const uint64_t factor = factor_for(length);
  const Ends ends(bytes, length, kPrime1, factor);
  return mix(ends.one(), ends.other(), factor);
}

uint64_t hash_upto_64(const uint8_t* bytes, std::size_t length) {
  const uint64_t factor = factor_for(length);
  const Ends ends(bytes, length, kPrime2, factor);
  const uint64_t outer = ends.one(), mixed = mix(outer, ends.other(), factor);
  const uint64_t a = load64(bytes + 16) * factor, b = load64(bytes + 24);
  const uint64_t c = (outer + load64(bytes + length - 32)) * factor;
  const uint64_t d = (mixed + load64(bytes + length - 24)) * factor;
  return mix(rotate(a + b, 43) + rotate(c, 30) + d, a + rotate(b + ends.first, 18) + c, factor);
}

struct Pair {
  uint64_t first = 0, second = 0;
};

// Takes 32 bytes in.
Pair absorb(const uint8_t* bytes, uint64_t a, uint64_t b) {
  const uint64_t start = a + load64(bytes);
  b = rotate(b + start + load64(bytes + 24), 21);
  const uint64_t sum = start + load64(bytes + 8) + load64(bytes + 16);
  return {sum + load64(bytes + 24), b + rotate(sum, 44) + start};
}

struct LongState {
  uint64_t x, y, z;
  Pair v, w;

  // Takes a block in. The last one has other factors.
  void take(const uint8_t* bytes, uint64_t factor, uint64_t weight) {
    x = rotate(x + y + v.first + load64(bytes + 8), 37) * factor;
    y = rotate(y + v.second + load64(bytes + 48), 42) * factor;
    x ^= w.second * weight;
    y += v.first * weight + load64(bytes + 40);
    z = rotate(z + w.first, 33) * factor;
    v = absorb(bytes, v.second * factor, x + w.first);
    w = absorb(bytes + 32, z + w.second, y + load64(bytes + 16));
    std::swap(z, x);
  }
};

uint64_t hash_long(const uint8_t* bytes, std::size_t length) {
  constexpr uint64_t kSeed = 81;
  const uint64_t y = kSeed * kPrime1 + 113;
  LongState state = {kSeed * kPrime2 + load64(bytes), y, fold(y * kPrime2 + 113) * kPrime2, {}, {}};
  const std::size_t whole = (length - 1) / kBlock * kBlock, rest = (length - 1) % kBlock;
  for (std::size_t i = 0; i < whole; i += kBlock) state.take(bytes + i, kPrime1, 1);
  const uint64_t factor = kPrime1 + ((state.z & 0xff) << 1);
  state.w.first += rest;
  state.v.first += state.w.first;
  state.w.first += state.v.first;
  state.take(bytes + length - kBlock, factor, 9);
  const uint64_t one = mix(state.v.first, state.w.first, factor) + fold(state.y) * kPrime0 + state.z;
  return mix(one, mix(state.v.second, state.w.second, factor) + state.x, factor);
}

}  // namespace

uint64_t fingerprint64(const uint8_t* bytes, std::size_t length) {
  if (length <= 16) return hash_upto_16(bytes, length);
  if (length <= 32) return hash_upto_32(bytes, length);
  if (length <= kBlock) return hash_upto_64(bytes, length);
  return hash_long(bytes, length);
}

}  // namespace nnapi_convert::host
