// SPDX-License-Identifier: BSD-3-Clause
#include "lib/program/tensor.h"

#include <cstring>
#include <limits>

namespace nnapi_shim::program {

namespace {

constexpr size_t kStorageBytes = 64;  // in front of the elements, which keep the pool's alignment
static_assert(sizeof(Storage) <= kStorageBytes);

// Returns row-major strides; false if a size is below 0 or the bytes of all elements overflow.
bool row_major(uint32_t rank, const int64_t* sizes, size_t bytes, int64_t* strides, int64_t* numel) {
  if (rank > kMostAxes) return false;
  const int64_t most = std::numeric_limits<ptrdiff_t>::max() / static_cast<int64_t>(bytes) - 128;
  int64_t stride = 1;
  *numel = 1;
  for (uint32_t i = rank; i-- > 0;) {
    strides[i] = stride;
    const int64_t size = sizes[i];
    if (size < 0) return false;
    *numel *= size > 0 ? 1 : 0;
    if (size > 1) {
      if (size > most / stride) return false;
      stride *= size;
    }
  }
  *numel *= stride;
  return true;
}

Tensor* make_header(Pool& pool, ScalarType dtype, uint32_t rank) {
  auto* tensor = static_cast<Tensor*>(pool.take(sizeof(Tensor)));
  if (tensor == nullptr) return nullptr;
  tensor->head = {&pool, 1, Tag::kTensor};
  tensor->dtype = dtype;
  tensor->rank = rank;
  tensor->offset = 0;
  tensor->storage = nullptr;
  return tensor;
}

}  // namespace

bool Tensor::is_contiguous() const {
  int64_t stride = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    if (sizes[i] == 0) return true;
  }
  for (uint32_t i = rank; i-- > 0;) {
    if (sizes[i] == 1) continue;
    if (strides[i] != stride) return false;
    stride *= sizes[i];
  }
  return true;
}

bool Tensor::is_contiguous_channels_last() const {
  if (rank != 4) return false;
  int64_t stride = 1;
  for (const uint32_t axis : {1, 3, 2, 0}) {
    if (sizes[axis] == 1) continue;
    if (strides[axis] != stride) return false;
    stride *= sizes[axis];
  }
  return true;
}

uint8_t* Tensor::bytes() const {
  return storage->data + offset * static_cast<int64_t>(element_bytes(dtype));
}

size_t element_bytes(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::kInt16:
    case ScalarType::kFloat16:
      return 2;
    case ScalarType::kInt32:
    case ScalarType::kFloat32:
      return 4;
    case ScalarType::kInt64:
    case ScalarType::kFloat64:
      return 8;
    default:
      return 1;
  }
}

const char* dtype_name(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::kUInt8:
      return "uint8";
    case ScalarType::kInt8:
      return "int8";
    case ScalarType::kInt16:
      return "int16";
    case ScalarType::kInt32:
      return "int32";
    case ScalarType::kInt64:
      return "int64";
    case ScalarType::kFloat16:
      return "float16";
    case ScalarType::kFloat32:
      return "float32";
    case ScalarType::kFloat64:
      return "float64";
    case ScalarType::kBool:
      return "bool";
  }
  return "a dtype that programs don't have";
}

bool is_floating(ScalarType dtype) {
  return dtype >= ScalarType::kFloat16 && dtype <= ScalarType::kFloat64;
}

Tensor* make_tensor(Pool& pool, ScalarType dtype, uint32_t rank, const int64_t* sizes) {
  int64_t strides[kMostAxes], numel;
  if (!row_major(rank, sizes, element_bytes(dtype), strides, &numel)) return nullptr;
  Tensor* tensor = make_header(pool, dtype, rank);
  if (tensor == nullptr) return nullptr;
  for (uint32_t i = 0; i < rank; ++i) {
    tensor->sizes[i] = sizes[i];
    tensor->strides[i] = strides[i];
  }
  const size_t bytes = static_cast<size_t>(numel) * element_bytes(dtype);
  auto* memory = static_cast<uint8_t*>(pool.take(kStorageBytes + bytes));
  if (memory == nullptr) {
    pool.give_back(tensor);
    return nullptr;
  }
  tensor->storage = reinterpret_cast<Storage*>(memory);
  *tensor->storage = {&pool, 1, true, memory + kStorageBytes, bytes};
  return tensor;
}

Tensor* make_view(Pool& pool, const Tensor& of) {
  Tensor* tensor = make_header(pool, of.dtype, of.rank);
  if (tensor == nullptr) return nullptr;
  const Object head = tensor->head;
  *tensor = of;
  tensor->head = head;
  retain(tensor->storage);
  return tensor;
}

Tensor* make_borrowed(Pool& pool, ScalarType dtype, uint32_t rank, const int64_t* sizes, const void* data,
                      size_t bytes) {
  int64_t strides[kMostAxes], numel;
  const size_t each = element_bytes(dtype);
  if (!row_major(rank, sizes, each, strides, &numel) || bytes / each < static_cast<size_t>(numel)) return nullptr;
  if (reinterpret_cast<uintptr_t>(data) % each != 0) {
    Tensor* copy = make_tensor(pool, dtype, rank, sizes);
    if (copy != nullptr) {
      std::memcpy(copy->storage->data, data, static_cast<size_t>(numel) * each);
      copy->storage->is_writable = false;
    }
    return copy;
  }
  const int64_t none = 0;
  Tensor* tensor = make_tensor(pool, dtype, 1, &none);
  if (tensor == nullptr) return nullptr;
  tensor->rank = rank;
  for (uint32_t i = 0; i < rank; ++i) {
    tensor->sizes[i] = sizes[i];
    tensor->strides[i] = strides[i];
  }
  // Nothing writes where is_writable is false.
  tensor->storage->data = const_cast<uint8_t*>(static_cast<const uint8_t*>(data));
  tensor->storage->bytes = bytes;
  tensor->storage->is_writable = false;
  return tensor;
}

void retain(Storage* storage) {
  if (storage->pool != nullptr) ++storage->references;
}

void release(Storage* storage) {
  if (storage->pool != nullptr && --storage->references == 0) storage->pool->give_back(storage);
}

Tensor* row_major_copy(Pool& pool, const Tensor& tensor, ScalarType dtype) {
  Tensor* copy = make_tensor(pool, dtype, tensor.rank, tensor.sizes);
  if (copy != nullptr) copy_elements(tensor, *copy);
  return copy;
}

Tensor* contiguous(Pool& pool, Tensor& tensor) {
  if (tensor.is_contiguous()) {
    if (tensor.head.pool != nullptr) ++tensor.head.references;
    return &tensor;
  }
  return row_major_copy(pool, tensor, tensor.dtype);
}

}  // namespace nnapi_shim::program
