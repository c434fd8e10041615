// SPDX-License-Identifier: BSD-3-Clause
// Loops over floats. They are built for speed, so that compilers use vector instructions, whereas nearly all other code
// is built for size.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nnapi_shim::program {

// Kernels (elements.h).
bool square_roots(size_t count, void* out, const void* const* in, const void* parameters);
bool greater(size_t count, void* out, const void* const* in, const void* parameters);
bool sigmoids(size_t count, void* out, const void* const* in, const void* parameters);

// Computes sums[i] = of_a * a[i] + of_b * b[i].
void add_scaled(int64_t count, const float* a, float of_a, const float* b, float of_b, float* sums);
void widen(size_t count, const float* values, double* doubles);
// Sets bytes[i] to 1 where values[i] is not 0, else to 0.
void set_truths(size_t count, const float* values, uint8_t* bytes);

}  // namespace nnapi_shim::program
