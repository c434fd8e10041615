// SPDX-License-Identifier: BSD-3-Clause
// Tensors of a running program: a view of a storage by sizes and strides, as PyTorch's strided tensors on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/format/program_format.h"
#include "lib/program/value.h"

namespace nnapi_shim::program {

using nnapi_convert::program_format::ScalarType;
constexpr uint32_t kMostAxes = nnapi_convert::program_format::kMostAxes;

// Memory that tensors share. It belongs to the pool that the header names; without one it belongs to the program's
// constants or the caller's inputs, and nothing writes to it.
struct Storage {
  Pool* pool;
  uint32_t references;
  bool is_writable;
  uint8_t* data;
  size_t bytes;
};

struct Tensor {
  Object head;
  ScalarType dtype;
  uint32_t rank;
  int64_t sizes[kMostAxes];
  int64_t strides[kMostAxes];  // in elements; 0 where elements are repeated, never below 0
  int64_t offset;              // the first element's place in the storage, in elements
  Storage* storage;

  int64_t numel() const {
    int64_t result = 1;
    for (uint32_t i = 0; i < rank; ++i) result *= sizes[i];
    return result;
  }
  bool is_contiguous() const;                // row-major
  bool is_contiguous_channels_last() const;  // only for rank 4
  template <typename T>
  T* data() const {
    return reinterpret_cast<T*>(storage->data) + offset;
  }
  uint8_t* bytes() const;  // the address of the first element
};

size_t element_bytes(ScalarType dtype);
const char* dtype_name(ScalarType dtype);  // as in PyTorch: "float32"
bool is_floating(ScalarType dtype);

// Makes a row-major tensor with a storage of its own. Null if memory is short or the sizes are below 0 or overflow.
Tensor* make_tensor(Pool& pool, ScalarType dtype, uint32_t rank, const int64_t* sizes);
// Makes another tensor of the same storage, with the same sizes and strides, for the caller to change. Null if memory
// is short.
Tensor* make_view(Pool& pool, const Tensor& of);
// Makes a row-major tensor of memory that is not the pool's and not written; the memory has to outlive it. Null if
// memory is short or the sizes are below 0 or overflow.
Tensor* make_borrowed(Pool& pool, ScalarType dtype, uint32_t rank, const int64_t* sizes, const void* data,
                      size_t bytes);

void retain(Storage* storage);
void release(Storage* storage);

// Copies elements into `to`, of the same sizes, with conversion of dtypes as aten::copy_ does. `to` is writable.
void copy_elements(const Tensor& from, const Tensor& to);
// Returns null if memory is short.
Tensor* row_major_copy(Pool& pool, const Tensor& tensor, ScalarType dtype);
// Returns the tensor itself if it is row-major, else a row-major copy. Null if memory is short.
Tensor* contiguous(Pool& pool, Tensor& tensor);

}  // namespace nnapi_shim::program
