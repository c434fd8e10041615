// SPDX-License-Identifier: BSD-3-Clause
// Loops over the elements of tensors, which all operators share: elements of any dtype and strides are read into a
// buffer of one of three classes of numbers, computed there, and written to any dtype and strides. So a kernel is a
// loop over arrays, once for each class of numbers that it knows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/program/tensor.h"

namespace nnapi_shim::program {

enum class Compute : uint8_t { kFloat, kDouble, kInt };  // float, double, int64_t
constexpr size_t kComputeClasses = 3;
// Returns kFloat for float16 and float32, kDouble for float64, kInt for the others.
Compute compute_of(ScalarType dtype);
// Returns the class in which elements keep their values on the way from one dtype to another.
Compute conversion_class(ScalarType from, ScalarType to);

// The number of elements that a buffer holds.
constexpr size_t kChunk = 256;
union ChunkBuffer {
  float floats[kChunk];
  double doubles[kChunk];
  int64_t ints[kChunk];
};

// Converts `count` elements that are `step` bytes apart.
void load_elements(const uint8_t* from, ScalarType dtype, ptrdiff_t step, size_t count, Compute compute, void* to);
void store_elements(const void* from, Compute compute, size_t count, uint8_t* to, ScalarType dtype, ptrdiff_t step);

double load_double(const Tensor& tensor, int64_t element);  // `element` counts elements of the storage
int64_t load_int(const Tensor& tensor, int64_t element);    // cuts off fractions
void store_double(const Tensor& tensor, int64_t element, double value);
void store_int(const Tensor& tensor, int64_t element, int64_t value);
// Cuts off the fraction; numbers that are too large, and NaN, give the smallest int64.
int64_t int_of(double value);

// Walks over the elements of a tensor in the order of `sizes`, the last axis fastest.
struct Cursor {
  uint8_t* at;
  ScalarType dtype;
  uint32_t rank;  // axes that continue each other count as one
  int64_t sizes[kMostAxes];
  int64_t steps[kMostAxes];  // in bytes
  int64_t index[kMostAxes];

  // `axes`: the tensor's axes in the order of the walk, or null for their own order.
  void start(const Tensor& tensor, const uint32_t* axes = nullptr);
  // Starts with the sizes and strides of another shape of the tensor.
  void start(const Tensor& tensor, uint32_t axis_count, const int64_t* axis_sizes, const int64_t* axis_strides,
             const uint32_t* axes);
  bool is_one_run(Compute compute) const;  // true for an array of the class's own type
  void read(size_t count, Compute compute, void* to);
  void write(size_t count, Compute compute, const void* from);
  void skip(size_t count);
};

// Computes out[i] from the operands' elements in[...][i]. All are arrays of the class. False for numbers that it
// refuses, such as a division by 0.
using Kernel = bool (*)(size_t count, void* out, const void* const* in, const void* parameters);
constexpr uint32_t kMostOperands = 4;

// Runs the kernel over all elements of `out`; the operands are broadcast to its sizes, which the caller has checked.
// An operand may be `out` itself.
bool map_elements(Compute compute, Kernel kernel, const void* parameters, const Tensor& out, uint32_t count,
                  const Tensor* const* operands);

// Returns the order of the tensor's axes in memory, outermost first.
void memory_order(const Tensor& tensor, uint32_t* axes);

void fill_elements(const Tensor& to, double value);
void fill_elements(const Tensor& to, int64_t value);

}  // namespace nnapi_shim::program
