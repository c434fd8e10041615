// SPDX-License-Identifier: BSD-3-Clause
// Computes sums of products, of which products of matrices and recurrent layers consist.
#pragma once

#include <cstdint>

namespace nnapi_shim::program {

template <typename T>
T dot(const T* a, const T* b, int64_t count) {
  // Several sums at once round less than a single one, and don't wait for each other.
  constexpr int64_t kSums = 8;
  T sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (int64_t k = 0; k < kSums; ++k) sums[k] += a[i + k] * b[i + k];
  }
  T sum = 0;
  for (; i < count; ++i) sum += a[i] * b[i];
  for (const T part : sums) sum += part;
  return sum;
}

}  // namespace nnapi_shim::program
