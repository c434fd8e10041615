// SPDX-License-Identifier: BSD-3-Clause
#include "lib/program/float_loops.h"

#include <cmath>

namespace nnapi_shim::program {

bool square_roots(size_t count, void* out, const void* const* in, const void* /*parameters*/) {
  auto* results = static_cast<float*>(out);
  const auto* values = static_cast<const float*>(in[0]);
  for (size_t i = 0; i < count; ++i) results[i] = std::sqrt(values[i]);
  return true;
}

bool greater(size_t count, void* out, const void* const* in, const void* /*parameters*/) {
  auto* results = static_cast<float*>(out);
  const auto *a = static_cast<const float*>(in[0]), *b = static_cast<const float*>(in[1]);
  for (size_t i = 0; i < count; ++i) results[i] = a[i] > b[i] ? 1.0F : 0.0F;
  return true;
}

bool sigmoids(size_t count, void* out, const void* const* in, const void* /*parameters*/) {
  auto* results = static_cast<float*>(out);
  const auto* values = static_cast<const float*>(in[0]);
  for (size_t i = 0; i < count; ++i) results[i] = std::exp(-values[i]);
  for (size_t i = 0; i < count; ++i) results[i] = 1 / (1 + results[i]);
  return true;
}

void widen(size_t count, const float* values, double* doubles) {
  for (size_t i = 0; i < count; ++i) doubles[i] = static_cast<double>(values[i]);
}

void set_truths(size_t count, const float* values, uint8_t* bytes) {
  for (size_t i = 0; i < count; ++i) bytes[i] = values[i] != 0 ? 1 : 0;
}

void add_scaled(int64_t count, const float* a, float of_a, const float* b, float of_b, float* sums) {
  for (int64_t i = 0; i < count; ++i) sums[i] = of_a * a[i] + of_b * b[i];
}

}  // namespace nnapi_shim::program
