// SPDX-License-Identifier: BSD-3-Clause
#include "lib/program/indices.h"

#include <algorithm>
#include <cstring>

#include "lib/program/arithmetic.h"

namespace nnapi_shim::program {

bool is_index(const Tensor& tensor) {
  return tensor.dtype == ScalarType::kInt64 || tensor.dtype == ScalarType::kInt32;
}

bool need_index(Call& call, const Tensor& tensor) {
  return tensor.dtype == ScalarType::kInt64 ||
         call.context.fail("the index is %s, needs int64", dtype_name(tensor.dtype));
}
bool need_same_dtype(Call& call, const Tensor& a, const Tensor& b) {
  return a.dtype == b.dtype ||
         call.context.fail("two tensors are %s and %s, need the same dtype", dtype_name(a.dtype), dtype_name(b.dtype));
}

bool need_in_range(Call& call, int64_t size, int64_t index) {
  return (index >= 0 && index < size) || call.context.fail("index %lld is out of range for the size %lld",
                                                           static_cast<long long>(index), static_cast<long long>(size));
}

bool wrap_index(Call& call, int64_t size, int64_t* index) {
  if (*index < 0 && *index >= -size) *index += size;
  return need_in_range(call, size, *index);
}

void IndexReader::fill() {
  filled_ = static_cast<size_t>(std::min<int64_t>(left_, kChunk));
  cursor_.read(filled_, Compute::kInt, buffer_);
  left_ -= static_cast<int64_t>(filled_);
  at_ = 0;
}

bool is_byte_run(const Tensor& tensor) {
  return element_bytes(tensor.dtype) == 1 && tensor.is_contiguous();
}

namespace {

// Counts eight bytes at a time: a byte's highest bit is set if the byte isn't zero, and a product adds these bits.
int64_t count_nonzero_bytes(const uint8_t* bytes, int64_t count) {
  constexpr uint64_t kHigh = 0x8080808080808080, kOnes = 0x0101010101010101;
  int64_t result = 0;
  for (; count >= 8; count -= 8, bytes += 8) {
    uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    const uint64_t high = (((word & ~kHigh) + ~kHigh) | word) & kHigh;
    result += static_cast<int64_t>(((high >> 7) * kOnes) >> 56);
  }
  return result + count - std::count(bytes, bytes + count, uint8_t{0});
}

}  // namespace

int64_t count_nonzero(const Tensor& tensor) {
  if (is_byte_run(tensor)) return count_nonzero_bytes(tensor.bytes(), tensor.numel());
  int64_t count = 0;
  double buffer[kChunk];
  Cursor cursor;
  cursor.start(tensor);
  for (int64_t left = tensor.numel(); left > 0;) {
    const auto length = static_cast<size_t>(std::min<int64_t>(left, kChunk));
    cursor.read(length, Compute::kDouble, buffer);
    for (size_t i = 0; i < length; ++i) count += buffer[i] != 0 ? 1 : 0;
    left -= static_cast<int64_t>(length);
  }
  return count;
}

void step(uint32_t rank, const int64_t* sizes, const int64_t* strides, int64_t* place, int64_t* offset) {
  for (uint32_t axis = rank; axis-- > 0;) {
    *offset += strides[axis];
    if (++place[axis] < sizes[axis]) return;
    *offset -= strides[axis] * sizes[axis];
    place[axis] = 0;
  }
}

void copy_element(size_t bytes, const uint8_t* from, uint8_t* to) {
  switch (bytes) {
    case 1:
      *to = *from;
      break;
    case 2:
      std::memcpy(to, from, 2);
      break;
    case 4:
      std::memcpy(to, from, 4);
      break;
    default:
      std::memcpy(to, from, 8);
      break;
  }
}

void add_elements(const Tensor& from, const Tensor& to, const Parameters& alpha) {
  const Tensor* operands[2] = {&to, &from};
  if (is_floating(to.dtype)) {
    map_elements(Compute::kDouble, map_two_with<double, AddScaled<false>>, &alpha, to, 2, operands);
  } else {
    map_elements(Compute::kInt, map_two_with<int64_t, AddScaled<false>>, &alpha, to, 2, operands);
  }
}

bool start_writing(Call& call, bool in_place, Tensor** target) {
  if (!tensor_at(call, 0, target)) return false;
  if (in_place) return need_writable(call, **target) && give_argument(call, 0);
  *target = row_major_copy(call.context.pool, **target, (*target)->dtype);
  return give(call, 0, *target);
}

bool broadcast_both(Call& call, const Tensor& a, const Tensor& b, Value* first, Value* second) {
  int64_t sizes[kMostAxes];
  uint32_t rank = 0;
  if (!broadcast(call, a, &rank, sizes) || !broadcast(call, b, &rank, sizes)) return false;
  *first = Value(make_expanded(call.context.pool, a, rank, sizes));
  *second = Value(make_expanded(call.context.pool, b, rank, sizes));
  return (!first->is_none() && !second->is_none()) || call.context.fail_memory();
}

bool move_masked(const Tensor& tensor, const Tensor& mask, const Tensor& list, bool to_list, int64_t most) {
  const size_t bytes = element_bytes(tensor.dtype);
  const int64_t all = mask.numel();
  int64_t place[kMostAxes] = {}, offset = tensor.offset;
  uint8_t* outside = list.bytes();
  IndexReader reader(mask);
  for (int64_t i = 0; i < all; ++i) {
    if (reader.next() != 0) {
      if (most-- == 0) return false;
      uint8_t* inside = tensor.storage->data + offset * static_cast<int64_t>(bytes);
      copy_element(bytes, to_list ? inside : outside, to_list ? outside : inside);
      outside += bytes;
    }
    step(tensor.rank, tensor.sizes, tensor.strides, place, &offset);
  }
  return true;
}

bool need_index_form(Call& call, const Tensor& tensor, uint32_t axis, const Tensor& index) {
  if (!need_index(call, index)) return false;
  if (index.numel() == 0) return true;
  bool fits = std::max(tensor.rank, 1U) == std::max(index.rank, 1U);
  for (uint32_t i = 0; fits && tensor.rank > 0 && i < index.rank; ++i) {
    fits = i == axis || index.sizes[i] <= tensor.sizes[i];
  }
  return fits || call.context.fail("the index has another rank, or is longer than the tensor");
}

}  // namespace nnapi_shim::program
