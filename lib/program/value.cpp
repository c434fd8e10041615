// SPDX-License-Identifier: BSD-3-Clause
#include "lib/program/value.h"

#include <cstring>
#include <new>

namespace nnapi_shim::program {
namespace {

constexpr uint32_t kLeastCapacity = 4;

}  // namespace

String* make_string(Pool& pool, const char* text, size_t length) {
  if (length > UINT32_MAX - 1 - sizeof(String)) return nullptr;
  void* memory = pool.take(sizeof(String) + length + 1);
  if (memory == nullptr) return nullptr;
  auto* string = new (memory) String{{&pool, 1, Tag::kString}, static_cast<uint32_t>(length)};
  auto* bytes = reinterpret_cast<char*>(string + 1);
  if (length > 0 && text != nullptr) std::memcpy(bytes, text, length);
  bytes[length] = '\0';
  return string;
}

Sequence* make_sequence(Pool& pool, Tag tag, uint32_t count) {
  Value* values = nullptr;
  if (count > 0) {
    size_t bytes = 0;
    if (__builtin_mul_overflow(size_t{count}, sizeof(Value), &bytes)) return nullptr;
    values = static_cast<Value*>(pool.take(bytes));
    if (values == nullptr) return nullptr;
    for (uint32_t i = 0; i < count; ++i) new (&values[i]) Value();
  }
  void* memory = pool.take(sizeof(Sequence));
  if (memory == nullptr) {
    pool.give_back(values);
    return nullptr;
  }
  return new (memory) Sequence{{&pool, 1, tag}, count, count, values};
}

bool append(Sequence& sequence, Value value) {
  if (sequence.count == sequence.capacity) {
    Pool* const pool = sequence.head.pool;
    if (pool == nullptr || sequence.count > UINT32_MAX / 2) return false;
    const uint32_t capacity = sequence.count == 0 ? kLeastCapacity : 2 * sequence.count;
    size_t bytes = 0;
    if (__builtin_mul_overflow(size_t{capacity}, sizeof(Value), &bytes)) return false;
    auto* values = static_cast<Value*>(pool->take(bytes));
    if (values == nullptr) return false;
    if (sequence.count > 0) std::memcpy(static_cast<void*>(values), sequence.values, sequence.count * sizeof(Value));
    pool->give_back(sequence.values);
    sequence.values = values;
    sequence.capacity = capacity;
  }
  new (&sequence.values[sequence.count]) Value(std::move(value));
  ++sequence.count;
  return true;
}

}  // namespace nnapi_shim::program
