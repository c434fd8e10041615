// SPDX-License-Identifier: BSD-3-Clause
// Values of a running program: numbers, texts, tensors, and containers of values. Containers and tensors are shared by
// reference, as in TorchScript: a change is seen through all references.
//
// A value belongs to one call (Context), and only its thread uses it; counts of references are plain numbers. Values
// that stay from call to call belong to the one context of a program with state.
#pragma once

#include <cstdint>
#include <utility>

#include "lib/program/pool.h"

namespace nnapi_shim::program {

enum class Tag : uint8_t { kNone, kBool, kInt, kFloat, kDevice, kString, kTensor, kList, kTuple, kDict, kObject };

// The header of an object to which values refer. `pool` is null for objects of constants, which no call changes or
// frees.
struct Object {
  Pool* pool;
  uint32_t references;
  Tag tag;
};

struct String;
struct Tensor;
struct Sequence;  // list, tuple, dict, object

// Frees the object and drops the values that it holds, without recursion deeper than kMostDepth.
void destroy(Object* object);

class Value {
 public:
  Value() : tag_(Tag::kNone), bits_{} {}
  explicit Value(bool value) : tag_(Tag::kBool), bits_{} { bits_.number = value ? 1 : 0; }
  explicit Value(int64_t value) : tag_(Tag::kInt), bits_{} { bits_.number = value; }
  explicit Value(double value) : tag_(Tag::kFloat), bits_{} { bits_.real = value; }
  static Value device() {
    Value result;
    result.tag_ = Tag::kDevice;
    return result;
  }
  // Takes over one reference. Null, for short memory, becomes None: the caller tests for it.
  explicit Value(Object* object) : tag_(object == nullptr ? Tag::kNone : object->tag), bits_{} {
    if (object != nullptr) bits_.object = object;
  }
  explicit Value(Tensor* tensor) : Value(reinterpret_cast<Object*>(tensor)) {}
  explicit Value(String* string) : Value(reinterpret_cast<Object*>(string)) {}
  explicit Value(Sequence* sequence) : Value(reinterpret_cast<Object*>(sequence)) {}
  explicit Value(const void*) = delete;  // it would be a bool
  Value(const Value& other) : tag_(other.tag_), bits_(other.bits_) { retain(); }
  Value(Value&& other) noexcept : tag_(other.tag_), bits_(other.bits_) { other.tag_ = Tag::kNone; }
  Value& operator=(Value other) noexcept {
    std::swap(tag_, other.tag_);
    std::swap(bits_, other.bits_);
    return *this;
  }
  ~Value() { release(); }

  Tag tag() const { return tag_; }
  bool is_none() const { return tag_ == Tag::kNone; }
  bool is_tensor() const { return tag_ == Tag::kTensor; }
  // The caller has to know the tag.
  bool as_bool() const { return bits_.number != 0; }
  int64_t as_int() const { return bits_.number; }
  double as_float() const { return bits_.real; }
  Object* object() const { return bits_.object; }
  Tensor& tensor() const { return *reinterpret_cast<Tensor*>(bits_.object); }
  Sequence& sequence() const { return *reinterpret_cast<Sequence*>(bits_.object); }
  const String& string() const { return *reinterpret_cast<const String*>(bits_.object); }

 private:
  void retain() {
    if (tag_ >= Tag::kString && bits_.object->pool != nullptr) ++bits_.object->references;
  }
  void release() {
    if (tag_ >= Tag::kString && bits_.object->pool != nullptr && --bits_.object->references == 0) destroy(bits_.object);
  }

  Tag tag_;
  union {
    int64_t number;
    double real;
    Object* object;
  } bits_;
};

struct String {
  Object head;
  uint32_t length;
  const char* text() const { return reinterpret_cast<const char*>(this + 1); }  // ends with a zero
};

// A list, tuple or object has its elements; a dict key, value, key, value, in the order of insertion.
struct Sequence {
  Object head;
  uint32_t count, capacity;
  Value* values;  // of the pool, except those of constants
};

// Null if memory is short.
String* make_string(Pool& pool, const char* text, size_t length);
Sequence* make_sequence(Pool& pool, Tag tag, uint32_t count);  // the elements are None
bool append(Sequence& sequence, Value value);                  // false if memory is short

}  // namespace nnapi_shim::program
