// SPDX-License-Identifier: BSD-3-Clause
// Frees values that nothing refers to any more.
#include <cstring>
#include <new>

#include "lib/program/tensor.h"
#include "lib/program/value.h"

namespace nnapi_shim::program {
namespace {

// Drops a reference. Returns the object if it was the last one.
Object* drop(Value& value) {
  Object* object = value.tag() >= Tag::kString ? value.object() : nullptr;
  if (object == nullptr || object->pool == nullptr) return nullptr;
  if (object->references > 1) {
    --object->references;
    object = nullptr;
  }
  new (&value) Value();
  return object;
}

// Objects that wait for their end are chained through their `pool`, which is the same for all.
void set_next(Object* waiting, const Object* next) {
  std::memcpy(static_cast<void*>(&waiting->pool), static_cast<const void*>(&next), sizeof next);
}

Object* next_of(const Object* waiting) {
  Object* next = nullptr;
  std::memcpy(static_cast<void*>(&next), static_cast<const void*>(&waiting->pool), sizeof next);
  return next;
}

}  // namespace

void destroy(Object* object) {
  Pool* const pool = object->pool;
  set_next(object, nullptr);
  while (object != nullptr) {
    Object* const current = object;
    object = next_of(current);
    if (current->tag == Tag::kTensor) {
      release(reinterpret_cast<Tensor*>(current)->storage);
    } else if (current->tag != Tag::kString) {
      auto* sequence = reinterpret_cast<Sequence*>(current);
      for (uint32_t i = 0; i < sequence->count; ++i) {
        Object* dead = drop(sequence->values[i]);
        if (dead == nullptr) continue;
        set_next(dead, object);
        object = dead;
      }
      pool->give_back(sequence->values);
    }
    pool->give_back(current);
  }
}

}  // namespace nnapi_shim::program
