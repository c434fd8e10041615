// SPDX-License-Identifier: BSD-3-Clause
// Operators that compute each element of their result from the elements at its place: dtypes, broadcasting, and loops.
#pragma once

#include "lib/program/arguments.h"

namespace nnapi_shim::program {

enum class MapResult : uint8_t {
  kSame,   // the operands' common dtype
  kFloat,  // float32 for whole numbers
  kBool,
};

struct MapOp {
  Kernel kernels[kComputeClasses];  // null: float16 and float32 in double; fails for others
  MapResult result;
  bool takes_bools;
};

// One number for the kernels of all classes.
struct Parameters {
  float of_float[3];
  double of_double[3];
  int64_t of_int[3];
  void set(uint32_t number, double value);
  void set(uint32_t number, const Value& value);
  template <typename T>
  const T* of() const;
};
template <>
inline const float* Parameters::of() const {
  return of_float;
}
template <>
inline const double* Parameters::of() const {
  return of_double;
}
template <>
inline const int64_t* Parameters::of() const {
  return of_int;
}

// Computes the first output. The first `masks` operands don't count for the common dtype. `target` is the tensor that
// is written, or null for a new one.
bool run_map(Call& call, const MapOp& op, const Parameters* parameters, uint32_t count, Operand* operands,
             uint32_t masks, const Tensor* target);

// Loops for one class of numbers, of functions of one, two or three of them: F::of(a, b).
template <typename T, typename F>
bool map_one(size_t count, void* out, const void* const* in, const void*) {
  auto* results = static_cast<T*>(out);
  const auto* a = static_cast<const T*>(in[0]);
  for (size_t i = 0; i < count; ++i) results[i] = F::of(a[i]);
  return true;
}
template <typename T, typename F>
bool map_one_with(size_t count, void* out, const void* const* in, const void* parameters) {
  auto* results = static_cast<T*>(out);
  const auto* a = static_cast<const T*>(in[0]);
  const T* numbers = static_cast<const Parameters*>(parameters)->of<T>();
  for (size_t i = 0; i < count; ++i) results[i] = F::of(a[i], numbers);
  return true;
}
template <typename T, typename F>
bool map_two(size_t count, void* out, const void* const* in, const void*) {
  auto* results = static_cast<T*>(out);
  const auto *a = static_cast<const T*>(in[0]), *b = static_cast<const T*>(in[1]);
  for (size_t i = 0; i < count; ++i) results[i] = F::of(a[i], b[i]);
  return true;
}
template <typename T, typename F>
bool map_two_with(size_t count, void* out, const void* const* in, const void* parameters) {
  auto* results = static_cast<T*>(out);
  const auto *a = static_cast<const T*>(in[0]), *b = static_cast<const T*>(in[1]);
  const T* numbers = static_cast<const Parameters*>(parameters)->of<T>();
  for (size_t i = 0; i < count; ++i) results[i] = F::of(a[i], b[i], numbers);
  return true;
}
template <typename T, typename F>
bool map_three(size_t count, void* out, const void* const* in, const void* parameters) {
  auto* results = static_cast<T*>(out);
  const auto *a = static_cast<const T*>(in[0]), *b = static_cast<const T*>(in[1]), *c = static_cast<const T*>(in[2]);
  const T* numbers = parameters == nullptr ? nullptr : static_cast<const Parameters*>(parameters)->of<T>();
  for (size_t i = 0; i < count; ++i) results[i] = F::of(a[i], b[i], c[i], numbers);
  return true;
}

}  // namespace nnapi_shim::program
