// SPDX-License-Identifier: BSD-3-Clause
// Shared by operators that read or write elements at the places that tensors of indices or masks name.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "lib/program/mapping.h"

namespace nnapi_shim::program {

bool is_index(const Tensor& tensor);                // int64 or int32
bool need_index(Call& call, const Tensor& tensor);  // int64
bool need_same_dtype(Call& call, const Tensor& a, const Tensor& b);

// Fails unless the index is one of `size` elements.
bool need_in_range(Call& call, int64_t size, int64_t index);
// Makes an index below 0 count from the end; fails for an index out of range.
bool wrap_index(Call& call, int64_t size, int64_t* index);

// Reads the elements of a tensor one after the other, in row-major order, as whole numbers.
class IndexReader {
 public:
  explicit IndexReader(const Tensor& tensor) : left_(tensor.numel()) { cursor_.start(tensor); }
  // Returns the next element; not to be called behind the last one.
  int64_t next() {
    if (at_ == filled_) fill();
    return buffer_[at_++];
  }

 private:
  void fill();

  Cursor cursor_;
  int64_t left_;
  size_t at_ = 0, filled_ = 0;
  int64_t buffer_[kChunk];
};

// Returns whether the elements are bytes that stand side by side, as a mask's do.
bool is_byte_run(const Tensor& tensor);
// Returns how many elements are not zero.
int64_t count_nonzero(const Tensor& tensor);

// Moves `place` to the next place in row-major order, and `offset` with it by the strides.
void step(uint32_t rank, const int64_t* sizes, const int64_t* strides, int64_t* place, int64_t* offset);
void copy_element(size_t bytes, const uint8_t* from, uint8_t* to);

// Returns the tensor that is written, the first argument itself or a copy, and makes it the output.
bool start_writing(Call& call, bool in_place, Tensor** target);
// Adds alpha * from to `to`, of the same sizes.
void add_elements(const Tensor& from, const Tensor& to, const Parameters& alpha);

// Returns views of both tensors, broadcast together.
bool broadcast_both(Call& call, const Tensor& a, const Tensor& b, Value* first, Value* second);
// Moves the elements of `tensor` where the mask, of the same sizes, isn't zero, to or from `list`, a row-major one.
// Returns false if these are more than `most`.
bool move_masked(const Tensor& tensor, const Tensor& mask, const Tensor& list, bool to_list, int64_t most);

// Fails unless the index has as many axes as the tensor, none longer than the tensor's except `axis`.
bool need_index_form(Call& call, const Tensor& tensor, uint32_t axis, const Tensor& index);
// Calls visit(offset in the tensor, number in row-major order) for each element of the index, whose value is a place
// on the axis of the tensor.
template <typename Visit>
bool visit_places(Call& call, const Tensor& tensor, uint32_t axis, const Tensor& index, const Visit& visit) {
  const int64_t count = index.numel();
  int64_t strides[kMostAxes], place[kMostAxes] = {}, offset = tensor.offset;
  std::copy(tensor.strides, tensor.strides + tensor.rank, strides);
  const int64_t stride = tensor.rank > 0 ? tensor.strides[axis] : 0, size = tensor.rank > 0 ? tensor.sizes[axis] : 1;
  if (tensor.rank > 0) strides[axis] = 0;
  IndexReader indices(index);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t number = indices.next();
    if (!need_in_range(call, size, number)) return false;
    visit(offset + number * stride, i);
    // A tensor without axes takes an index of one element.
    if (tensor.rank > 0) step(index.rank, index.sizes, strides, place, &offset);
  }
  return true;
}

}  // namespace nnapi_shim::program
