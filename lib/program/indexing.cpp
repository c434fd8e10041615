// Operators that read and write elements at places that tensors name.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "lib/program/arguments.h"
#include "lib/program/mapping.h"

namespace nnapi_shim::program {

namespace {

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

bool wrap_index(Call& call, int64_t size, int64_t* index) {
  const int64_t wrapped = *index < 0 ? *index + size : *index;
  if (wrapped < 0 || wrapped >= size) {
    return call.context.fail("index %lld is out of range for the size %lld", static_cast<long long>(*index),
                             static_cast<long long>(size));
  }
  *index = wrapped;
  return true;
}

int64_t strided_numel(uint32_t rank, const int64_t* sizes) {
  int64_t numel = 1;
  for (uint32_t i = 0; i < rank; ++i) numel *= sizes[i];
  return numel;
}

// The next place in row-major order; `offset` follows with the strides.
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

// The places of elements that aren't zero: a tensor of int64 [count, axes].
Tensor* make_nonzero(Pool& pool, const Tensor& tensor) {
  const int64_t all = tensor.numel();
  Cursor cursor;
  int64_t count = 0;
  double buffer[kChunk];
  cursor.start(tensor);
  for (int64_t i = 0; i < all;) {
    const auto length = static_cast<size_t>(std::min<int64_t>(all - i, kChunk));
    cursor.read(length, Compute::kDouble, buffer);
    for (size_t k = 0; k < length; ++k) count += buffer[k] != 0 ? 1 : 0;
    i += static_cast<int64_t>(length);
  }
  const int64_t sizes[2] = {count, tensor.rank};
  Tensor* result = make_tensor(pool, ScalarType::kInt64, 2, sizes);
  if (result == nullptr) return nullptr;
  auto* out = result->data<int64_t>();
  int64_t place[kMostAxes] = {}, offset = 0;
  const int64_t strides[kMostAxes] = {};
  cursor.start(tensor);
  for (int64_t i = 0; i < all;) {
    const auto length = static_cast<size_t>(std::min<int64_t>(all - i, kChunk));
    cursor.read(length, Compute::kDouble, buffer);
    for (size_t k = 0; k < length; ++k) {
      if (buffer[k] != 0) out = std::copy(place, place + tensor.rank, out);
      step(tensor.rank, tensor.sizes, strides, place, &offset);
    }
    i += static_cast<int64_t>(length);
  }
  return result;
}

// The columns of make_nonzero(), as values of `columns`.
bool nonzero_columns(Call& call, const Tensor& tensor, Value* columns) {
  const Value places(make_nonzero(call.context.pool, tensor));
  if (places.is_none()) return call.context.fail_memory();
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    Tensor* column = make_view(call.context.pool, places.tensor());
    if (column == nullptr) return call.context.fail_memory();
    column->rank = 1;
    column->offset = i;
    column->strides[0] = tensor.rank;
    columns[i] = Value(column);
  }
  return true;
}

bool nonzero(Call& call) {
  Tensor* tensor;
  return tensor_at(call, 0, &tensor) && give(call, 0, make_nonzero(call.context.pool, *tensor));
}

bool nonzero_list(Call& call) {
  Tensor* tensor;
  if (!tensor_at(call, 0, &tensor)) return false;
  Tensor shaped = *tensor;
  if (shaped.rank == 0) {
    shaped.rank = 1;
    shaped.sizes[0] = shaped.strides[0] = 1;
  }
  Sequence* list = make_sequence(call.context.pool, Tag::kList, shaped.rank);
  if (list == nullptr) return call.context.fail_memory();
  call.outputs[0] = Value(list);
  return nonzero_columns(call, shaped, list->values);
}

// Elements of a tensor that are chosen together: blocks of the axes that aren't indexed, at offsets.
struct Choice {
  Value offsets;  // int64, in elements of the storage, one for each block
  int64_t count = 0;
  uint32_t rank = 0;  // of the result
  int64_t sizes[kMostAxes] = {};
  uint32_t index_begin = 0, index_end = 0;  // the result's axes that come from the indices
  Tensor block;                             // the tensor's axes that aren't indexed, at offset 0
};

// Reads a list of indices, None for axes that are taken whole, as PyTorch's advanced indexing does.
bool choose(Call& call, const Tensor& tensor, const Sequence& list, Choice* choice) {
  Pool& pool = call.context.pool;
  Value indices[kMostAxes];
  uint32_t count = 0;
  for (uint32_t i = 0; i < list.count; ++i) {
    const Value& value = list.values[i];
    if (value.is_none()) {
      if (count == tensor.rank) return call.context.fail("too many indices for %u axes", tensor.rank);
      ++count;
      continue;
    }
    const Tensor& index = value.tensor();
    if (!is_mask(index)) {
      if (!is_index(index)) return call.context.fail("an index is %s, needs int64 or bool", dtype_name(index.dtype));
      if (count == tensor.rank) return call.context.fail("too many indices for %u axes", tensor.rank);
      indices[count++] = value;
      continue;
    }
    if (index.rank > tensor.rank - count) return call.context.fail("a mask has more axes than the tensor");
    for (uint32_t k = 0; k < index.rank; ++k) {
      if (index.sizes[k] != tensor.sizes[count + k]) {
        return call.context.fail("a mask has the size %lld at axis %u, the tensor %lld",
                                 static_cast<long long>(index.sizes[k]), k,
                                 static_cast<long long>(tensor.sizes[count + k]));
      }
    }
    if (index.rank == 0) return call.context.fail("a mask without axes is no index");
    if (!nonzero_columns(call, index, indices + count)) return false;
    count += index.rank;
  }
  int64_t shape[kMostAxes];
  uint32_t shape_rank = 0, first = kMostAxes, last = 0, indexed = 0;
  for (uint32_t axis = 0; axis < count; ++axis) {
    if (indices[axis].is_none()) continue;
    first = std::min(first, axis);
    last = axis;
    ++indexed;
    if (!broadcast(call, indices[axis].tensor(), &shape_rank, shape)) return false;
  }
  if (indexed == 0) return call.context.fail("indexing needs an index");
  const bool adjacent = last - first + 1 == indexed;
  choice->index_begin = adjacent ? first : 0;
  choice->index_end = choice->index_begin + shape_rank;
  if (shape_rank + tensor.rank - indexed > kMostAxes) {
    return call.context.fail("a tensor has at most %u axes", kMostAxes);
  }
  choice->block = tensor;
  Tensor& block = choice->block;
  block.rank = 0;
  block.offset = 0;
  for (uint32_t axis = 0; axis < tensor.rank; ++axis) {
    if (axis < count && !indices[axis].is_none()) continue;
    block.sizes[block.rank] = tensor.sizes[axis];
    block.strides[block.rank++] = tensor.strides[axis];
  }
  choice->rank = block.rank + shape_rank;
  std::copy(shape, shape + shape_rank, choice->sizes + choice->index_begin);
  for (uint32_t i = 0; i < block.rank; ++i) {
    choice->sizes[i < choice->index_begin ? i : i + shape_rank] = block.sizes[i];
  }
  const Value offsets(make_tensor(pool, ScalarType::kInt64, shape_rank, shape));
  if (offsets.is_none()) return call.context.fail_memory();
  choice->count = offsets.tensor().numel();
  auto* out = offsets.tensor().data<int64_t>();
  std::fill(out, out + choice->count, tensor.offset);
  for (uint32_t axis = first; axis <= last; ++axis) {
    if (indices[axis].is_none()) continue;
    const Value index(make_expanded(pool, indices[axis].tensor(), shape_rank, shape));
    if (index.is_none()) return call.context.fail_memory();
    Cursor cursor;
    cursor.start(index.tensor());
    for (int64_t i = 0; i < choice->count;) {
      int64_t buffer[kChunk];
      const auto length = static_cast<size_t>(std::min<int64_t>(choice->count - i, kChunk));
      cursor.read(length, Compute::kInt, buffer);
      for (size_t k = 0; k < length; ++k, ++i) {
        if (!wrap_index(call, tensor.sizes[axis], &buffer[k])) return false;
        out[i] += buffer[k] * tensor.strides[axis];
      }
    }
  }
  choice->offsets = offsets;
  return true;
}

// Moves blocks between the tensor and `whole`, which has the choice's sizes and is row-major.
enum class Move { kRead, kWrite, kAdd };

struct Sum {
  template <typename T>
  static T of(T a, T b, const T* alpha) {
    return a + alpha[0] * b;
  }
  static int64_t of(int64_t a, int64_t b, const int64_t* alpha) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(alpha[0]) * static_cast<uint64_t>(b));
  }
};

// to += alpha * from
void add_elements(const Tensor& from, const Tensor& to, const Parameters& alpha) {
  const Tensor* operands[2] = {&to, &from};
  if (is_floating(to.dtype)) {
    map_elements(Compute::kDouble, map_two_with<double, Sum>, &alpha, to, 2, operands);
  } else {
    map_elements(Compute::kInt, map_two_with<int64_t, Sum>, &alpha, to, 2, operands);
  }
}

void move_blocks(const Tensor& tensor, const Choice& choice, const Tensor& whole, Move move) {
  Tensor block = choice.block, part = whole;
  // The block's axes in `whole`.
  const uint32_t index_rank = choice.index_end - choice.index_begin;
  part.rank = block.rank;
  for (uint32_t i = 0; i < block.rank; ++i) {
    const uint32_t axis = i < choice.index_begin ? i : i + index_rank;
    part.sizes[i] = whole.sizes[axis];
    part.strides[i] = whole.strides[axis];
  }
  int64_t stride = 1;
  for (uint32_t i = choice.index_begin; i < block.rank; ++i) stride *= block.sizes[i];
  const int64_t elements = strided_numel(block.rank, block.sizes);
  if (elements == 0) return;
  const auto* offsets = choice.offsets.tensor().data<int64_t>();
  const size_t bytes = element_bytes(tensor.dtype);
  const bool is_run = block.is_contiguous() && part.is_contiguous() && move != Move::kAdd;
  const auto each = static_cast<size_t>(elements) * bytes;
  Parameters one;
  one.set(0, 1.0);
  for (int64_t i = 0; i < choice.count; ++i, part.offset += stride) {
    if (is_run) {
      uint8_t* inside = tensor.storage->data + offsets[i] * static_cast<int64_t>(bytes);
      uint8_t* outside = whole.storage->data + part.offset * static_cast<int64_t>(bytes);
      if (move == Move::kWrite) std::swap(inside, outside);
      if (elements == 1) {
        copy_element(bytes, inside, outside);
      } else {
        std::memcpy(outside, inside, each);
      }
      continue;
    }
    block.offset = offsets[i];
    if (move == Move::kRead) {
      copy_elements(block, part);
    } else if (move == Move::kWrite) {
      copy_elements(part, block);
    } else {
      add_elements(part, block, one);
    }
  }
}

bool has_index(const Sequence& list) {
  for (uint32_t i = 0; i < list.count; ++i) {
    if (!list.values[i].is_none()) return true;
  }
  return false;
}

bool index(Call& call) {
  Tensor* tensor;
  const Sequence* list;
  Choice choice;
  if (!tensor_at(call, 0, &tensor) || !tensors_at(call, 1, true, &list)) return false;
  if (!has_index(*list)) {
    if (list->count > tensor->rank) return call.context.fail("too many indices for %u axes", tensor->rank);
    Tensor* copy = make_tensor(call.context.pool, tensor->dtype, tensor->rank, tensor->sizes);
    if (copy != nullptr) copy_elements(*tensor, *copy);
    return give(call, 0, copy);
  }
  if (!choose(call, *tensor, *list, &choice)) return false;
  Tensor* result = make_tensor(call.context.pool, tensor->dtype, choice.rank, choice.sizes);
  if (!give(call, 0, result)) return false;
  move_blocks(*tensor, choice, *result, Move::kRead);
  return true;
}

bool copy_argument(Call& call, Tensor** copy) {
  Tensor* tensor;
  if (!tensor_at(call, 0, &tensor)) return false;
  *copy = make_tensor(call.context.pool, tensor->dtype, tensor->rank, tensor->sizes);
  if (!give(call, 0, *copy)) return false;
  copy_elements(*tensor, **copy);
  return true;
}

// The tensor that is written: the argument itself or a copy. It is the output.
bool start_writing(Call& call, bool in_place, Tensor** target) {
  if (!in_place) return copy_argument(call, target);
  return tensor_at(call, 0, target) && need_writable(call, **target) && give_argument(call, 0);
}

bool run_index_put(Call& call, bool in_place) {
  Tensor *target, *values;
  const Sequence* list;
  bool accumulate = false;
  Choice choice;
  if (!tensors_at(call, 1, true, &list) || !tensor_at(call, 2, &values)) return false;
  if (!optional_bool_at(call, 3, false, &accumulate) || !start_writing(call, in_place, &target)) return false;
  if (!need_same_dtype(call, *target, *values)) return false;
  if (!has_index(*list)) return call.context.fail("index_put() needs an index");
  if (!choose(call, *target, *list, &choice)) return false;
  int64_t sizes[kMostAxes];
  uint32_t rank = choice.rank;
  std::copy(choice.sizes, choice.sizes + rank, sizes);
  Tensor source = *values;
  // Values may have more axes of size 1 in front.
  while (source.rank > rank && source.sizes[0] == 1) {
    --source.rank;
    std::copy(source.sizes + 1, source.sizes + source.rank + 1, source.sizes);
    std::copy(source.strides + 1, source.strides + source.rank + 1, source.strides);
  }
  if (!broadcast(call, source, &rank, sizes)) return false;
  if (rank != choice.rank || !std::equal(sizes, sizes + rank, choice.sizes)) {
    return call.context.fail("the values don't fit into the indexed elements");
  }
  const Value expanded(make_expanded(call.context.pool, source, rank, sizes));
  if (expanded.is_none()) return call.context.fail_memory();
  const Value whole(make_tensor(call.context.pool, source.dtype, rank, sizes));
  if (whole.is_none()) return call.context.fail_memory();
  copy_elements(expanded.tensor(), whole.tensor());
  move_blocks(*target, choice, whole.tensor(), accumulate ? Move::kAdd : Move::kWrite);
  return true;
}
template <bool kInPlace>
bool index_put(Call& call) {
  return run_index_put(call, kInPlace);
}

// Copies slices of the axis at the index's places.
bool give_selected(Call& call, const Tensor& tensor, uint32_t axis, const Tensor& index, uint32_t rank,
                   const int64_t* sizes) {
  Tensor* result = make_tensor(call.context.pool, tensor.dtype, rank, sizes);
  if (!give(call, 0, result)) return false;
  const int64_t count = index.numel();
  // The result with one axis for all places.
  Tensor place = tensor, slice = tensor;
  place.storage = result->storage;
  place.offset = 0;
  int64_t stride = 1;
  for (uint32_t i = tensor.rank; i-- > 0;) {
    place.strides[i] = stride;
    stride *= i == axis ? count : tensor.sizes[i];
  }
  const int64_t size = tensor.rank > 0 ? tensor.sizes[axis] : 1, one = 1;
  const int64_t in_stride = tensor.rank > 0 ? tensor.strides[axis] : 1;
  const int64_t out_stride = tensor.rank > 0 ? place.strides[axis] : 1;
  if (tensor.rank > 0) slice.sizes[axis] = place.sizes[axis] = one;
  const bool is_empty = slice.numel() == 0;
  const bool is_run = slice.is_contiguous() && place.is_contiguous();
  const size_t bytes = element_bytes(tensor.dtype), each = static_cast<size_t>(slice.numel()) * bytes;
  Cursor cursor;
  cursor.start(index);
  for (int64_t i = 0; i < count; ++i) {
    int64_t number;
    cursor.read(1, Compute::kInt, &number);
    if (number < 0 || number >= size) {
      return call.context.fail("index %lld is out of range for the size %lld", static_cast<long long>(number),
                               static_cast<long long>(size));
    }
    if (is_empty) continue;
    slice.offset = tensor.offset + number * in_stride;
    place.offset = i * out_stride;
    if (is_run) {
      std::memcpy(place.bytes(), slice.bytes(), each);
    } else {
      copy_elements(slice, place);
    }
  }
  return true;
}

bool index_select(Call& call) {
  Tensor *tensor, *index;
  uint32_t axis;
  if (!tensor_at(call, 0, &tensor) || !axis_at(call, 1, tensor->rank, &axis) || !tensor_at(call, 2, &index)) {
    return false;
  }
  if (!is_index(*index) || index->rank > 1) return call.context.fail("the index needs one axis of int64 or int32");
  int64_t sizes[kMostAxes];
  std::copy(tensor->sizes, tensor->sizes + tensor->rank, sizes);
  if (tensor->rank > 0) {
    sizes[axis] = index->numel();
  } else if (index->numel() != 1) {
    return call.context.fail("a tensor without axes has one element");
  }
  return give_selected(call, *tensor, axis, *index, tensor->rank, sizes);
}

bool embedding(Call& call) {
  Tensor *weight, *index;
  if (!tensor_at(call, 0, &weight) || !tensor_at(call, 1, &index)) return false;
  if (weight->rank != 2 || !is_index(*index) || index->rank == kMostAxes) {
    return call.context.fail("embedding() needs a weight of 2 axes and int64 or int32 as index");
  }
  int64_t sizes[kMostAxes];
  std::copy(index->sizes, index->sizes + index->rank, sizes);
  sizes[index->rank] = weight->sizes[1];
  return give_selected(call, *weight, 0, *index, index->rank + 1, sizes);
}

// Of a mask and a tensor that are broadcast together.
bool broadcast_both(Call& call, const Tensor& a, const Tensor& b, Value* first, Value* second) {
  int64_t sizes[kMostAxes];
  uint32_t rank = 0;
  if (!broadcast(call, a, &rank, sizes) || !broadcast(call, b, &rank, sizes)) return false;
  *first = Value(make_expanded(call.context.pool, a, rank, sizes));
  *second = Value(make_expanded(call.context.pool, b, rank, sizes));
  return (!first->is_none() && !second->is_none()) || call.context.fail_memory();
}

// Moves the elements of `tensor` where the mask, of the same sizes, isn't zero, to or from `list`.
int64_t move_masked(const Tensor& tensor, const Tensor& mask, const Tensor& list, bool to_list, int64_t most) {
  const size_t bytes = element_bytes(tensor.dtype);
  const int64_t all = mask.numel();
  int64_t place[kMostAxes] = {}, offset = tensor.offset, moved = 0;
  uint8_t* outside = list.bytes();
  Cursor cursor;
  cursor.start(mask);
  for (int64_t i = 0; i < all;) {
    int64_t buffer[kChunk];
    const auto length = static_cast<size_t>(std::min<int64_t>(all - i, kChunk));
    cursor.read(length, Compute::kInt, buffer);
    for (size_t k = 0; k < length; ++k) {
      if (buffer[k] != 0) {
        if (moved == most) return -1;
        uint8_t* inside = tensor.storage->data + offset * static_cast<int64_t>(bytes);
        copy_element(bytes, to_list ? inside : outside, to_list ? outside : inside);
        outside += bytes;
        ++moved;
      }
      step(tensor.rank, tensor.sizes, tensor.strides, place, &offset);
    }
    i += static_cast<int64_t>(length);
  }
  return moved;
}

bool masked_select(Call& call) {
  Tensor *tensor, *mask;
  Value a, b;
  if (!tensor_at(call, 0, &tensor) || !tensor_at(call, 1, &mask) || !need_mask(call, *mask)) return false;
  if (!broadcast_both(call, *tensor, *mask, &a, &b)) return false;
  int64_t count = 0;
  Cursor cursor;
  cursor.start(b.tensor());
  const int64_t all = b.tensor().numel();
  for (int64_t i = 0; i < all;) {
    int64_t buffer[kChunk];
    const auto length = static_cast<size_t>(std::min<int64_t>(all - i, kChunk));
    cursor.read(length, Compute::kInt, buffer);
    for (size_t k = 0; k < length; ++k) count += buffer[k] != 0 ? 1 : 0;
    i += static_cast<int64_t>(length);
  }
  Tensor* result = make_tensor(call.context.pool, tensor->dtype, 1, &count);
  if (!give(call, 0, result)) return false;
  move_masked(a.tensor(), b.tensor(), *result, true, count);
  return true;
}

bool run_masked_scatter(Call& call, bool in_place) {
  Tensor *tensor, *mask, *source;
  Value a, b;
  if (!tensor_at(call, 0, &tensor) || !tensor_at(call, 1, &mask) || !tensor_at(call, 2, &source)) return false;
  if (!need_mask(call, *mask) || !need_same_dtype(call, *tensor, *source)) return false;
  if (!broadcast_both(call, *tensor, *mask, &a, &b)) return false;
  Tensor* target = tensor;
  if (in_place) {
    if (!need_same_sizes(call, a.tensor(), *tensor) || !need_writable(call, *tensor)) return false;
    give_argument(call, 0);
  } else {
    target = make_tensor(call.context.pool, tensor->dtype, a.tensor().rank, a.tensor().sizes);
    if (!give(call, 0, target)) return false;
    copy_elements(a.tensor(), *target);
  }
  const Value list(contiguous(call.context.pool, *source));
  if (list.is_none()) return call.context.fail_memory();
  return move_masked(*target, b.tensor(), list.tensor(), false, source->numel()) >= 0 ||
         call.context.fail("masked_scatter() has more places than the source has elements");
}
template <bool kInPlace>
bool masked_scatter(Call& call) {
  return run_masked_scatter(call, kInPlace);
}

bool take(Call& call) {
  Tensor *tensor, *index;
  if (!tensor_at(call, 0, &tensor) || !tensor_at(call, 1, &index) || !need_index(call, *index)) return false;
  const Value flat(contiguous(call.context.pool, *tensor));
  if (flat.is_none()) return call.context.fail_memory();
  Tensor* result = make_tensor(call.context.pool, tensor->dtype, index->rank, index->sizes);
  if (!give(call, 0, result)) return false;
  const int64_t count = index->numel(), size = tensor->numel();
  const size_t bytes = element_bytes(tensor->dtype);
  const uint8_t* from = flat.tensor().bytes();
  uint8_t* to = result->bytes();
  Cursor cursor;
  cursor.start(*index);
  for (int64_t i = 0; i < count; ++i, to += bytes) {
    int64_t number;
    cursor.read(1, Compute::kInt, &number);
    if (!wrap_index(call, size, &number)) return false;
    copy_element(bytes, from + number * static_cast<int64_t>(bytes), to);
  }
  return true;
}

// Calls visit(offset in the tensor, number in row-major order) for each element of the index, whose value is a place
// on the axis of the tensor.
template <typename Visit>
bool visit_places(Call& call, const Tensor& tensor, uint32_t axis, const Tensor& index, const Visit& visit) {
  const int64_t count = index.numel();
  int64_t strides[kMostAxes], place[kMostAxes] = {}, offset = tensor.offset;
  std::copy(tensor.strides, tensor.strides + tensor.rank, strides);
  const int64_t stride = tensor.rank > 0 ? tensor.strides[axis] : 0, size = tensor.rank > 0 ? tensor.sizes[axis] : 1;
  if (tensor.rank > 0) strides[axis] = 0;
  Cursor cursor;
  cursor.start(index);
  for (int64_t i = 0; i < count;) {
    int64_t buffer[kChunk];
    const auto length = static_cast<size_t>(std::min<int64_t>(count - i, kChunk));
    cursor.read(length, Compute::kInt, buffer);
    for (size_t k = 0; k < length; ++k, ++i) {
      if (buffer[k] < 0 || buffer[k] >= size) {
        return call.context.fail("index %lld is out of range for the size %lld", static_cast<long long>(buffer[k]),
                                 static_cast<long long>(size));
      }
      visit(offset + buffer[k] * stride, i);
      // A tensor without axes takes an index of one element.
      if (tensor.rank > 0) step(index.rank, index.sizes, strides, place, &offset);
    }
  }
  return true;
}

// Whether the index has the tensor's axes, none longer than the tensor's, but for `axis`.
bool need_index_form(Call& call, const Tensor& tensor, uint32_t axis, const Tensor& index) {
  if (!need_index(call, index)) return false;
  if (index.numel() == 0) return true;
  bool fits = std::max(tensor.rank, 1U) == std::max(index.rank, 1U);
  for (uint32_t i = 0; fits && tensor.rank > 0 && i < index.rank; ++i) {
    fits = i == axis || index.sizes[i] <= tensor.sizes[i];
  }
  return fits || call.context.fail("the index has another rank, or is longer than the tensor");
}

bool gather_along(Call& call, const Tensor& tensor, uint32_t axis, const Tensor& index) {
  if (!need_index_form(call, tensor, axis, index)) return false;
  Tensor* result = make_tensor(call.context.pool, tensor.dtype, index.rank, index.sizes);
  if (!give(call, 0, result)) return false;
  const size_t bytes = element_bytes(tensor.dtype);
  const uint8_t* from = tensor.storage->data;
  uint8_t* to = result->bytes();
  return visit_places(call, tensor, axis, index, [from, to, bytes](int64_t offset, int64_t number) {
    copy_element(bytes, from + offset * static_cast<int64_t>(bytes), to + number * static_cast<int64_t>(bytes));
  });
}

bool gather(Call& call) {
  Tensor *tensor, *index;
  uint32_t axis;
  if (!tensor_at(call, 0, &tensor) || !axis_at(call, 1, tensor->rank, &axis) || !tensor_at(call, 2, &index)) {
    return false;
  }
  return gather_along(call, *tensor, axis, *index);
}

bool take_along_dim(Call& call) {
  Tensor *tensor, *index;
  uint32_t axis;
  if (!tensor_at(call, 0, &tensor) || !tensor_at(call, 1, &index)) return false;
  if (call.input(2).is_none() || tensor->rank != index->rank || tensor->rank == 0) {
    return call.context.fail("take_along_dim() needs an axis, and tensors with as many axes");
  }
  if (!axis_at(call, 2, tensor->rank, &axis)) return false;
  Tensor a = *tensor, b = *index;
  for (uint32_t i = 0; i < a.rank; ++i) {
    if (i == axis || a.sizes[i] == b.sizes[i]) continue;
    if (a.sizes[i] != 1 && b.sizes[i] != 1) return call.context.fail("take_along_dim() of sizes that don't fit");
    Tensor& repeated = a.sizes[i] == 1 ? a : b;
    repeated.strides[i] = 0;
    repeated.sizes[i] = a.sizes[i] == 1 ? b.sizes[i] : a.sizes[i];
  }
  return gather_along(call, a, axis, b);
}

enum class Combine { kWrite, kAdd, kMultiply, kMost, kLeast };

bool combine_named(Call& call, uint32_t number, Combine* combine) {
  const char* name;
  if (!optional_text_at(call, number, &name) || name == nullptr) return call.context.fail("reduce needs a name");
  constexpr struct {
    const char* name;
    Combine combine;
  } kNames[] = {{"add", Combine::kAdd},       {"sum", Combine::kAdd},   {"multiply", Combine::kMultiply},
                {"prod", Combine::kMultiply}, {"amax", Combine::kMost}, {"amin", Combine::kLeast}};
  for (const auto& row : kNames) {
    if (std::strcmp(row.name, name) == 0) {
      *combine = row.combine;
      return true;
    }
  }
  return call.context.fail("reduce '%s' is not in the list", name);
}

template <typename T>
T combined(Combine combine, T a, T b) {
  switch (combine) {
    case Combine::kAdd:
      return a + b;
    case Combine::kMultiply:
      return a * b;
    case Combine::kMost:
      return a != a || a > b ? a : b;
    case Combine::kLeast:
      return a != a || a < b ? a : b;
    case Combine::kWrite:
      break;
  }
  return b;
}

// Writes the source's elements (a tensor's of at least the index's sizes, or one number) to the index's places.
bool scatter_along(Call& call, bool in_place, Combine combine) {
  Tensor *target, *index;
  uint32_t axis;
  if (!start_writing(call, in_place, &target) || !axis_at(call, 1, target->rank, &axis)) return false;
  if (!tensor_at(call, 2, &index) || !need_index_form(call, *target, axis, *index)) return false;
  if (index->numel() == 0) return true;
  Operand source;
  if (!source.read(call, 3)) return false;
  Value view;
  if (!call.input(3).is_tensor()) {
    if (!source.round_to(call.context.pool, target->dtype)) return call.context.fail_memory();
    view = Value(make_tensor(call.context.pool, target->dtype, 0, nullptr));
    if (view.is_none()) return call.context.fail_memory();
    copy_elements(source.tensor(), view.tensor());
    view = Value(make_expanded(call.context.pool, view.tensor(), index->rank, index->sizes));
  } else {
    const Tensor& tensor = source.tensor();
    if (!need_same_dtype(call, *target, tensor)) return false;
    bool fits = std::max(tensor.rank, 1U) == std::max(index->rank, 1U);
    for (uint32_t i = 0; fits && i < std::min(index->rank, tensor.rank); ++i) fits = index->sizes[i] <= tensor.sizes[i];
    if (!fits || (tensor.rank == 0 && index->numel() > 1)) {
      return call.context.fail("the source needs at least the index's sizes");
    }
    view = Value(make_view(call.context.pool, tensor));
    if (!view.is_none() && tensor.rank > 0) {
      std::copy(index->sizes, index->sizes + index->rank, view.tensor().sizes);
      if (index->rank == 0) view.tensor().sizes[0] = 1;
    }
  }
  if (view.is_none()) return call.context.fail_memory();
  Cursor cursor;
  cursor.start(view.tensor());
  const bool real = is_floating(target->dtype);
  const Tensor& to = *target;
  return visit_places(call, *target, axis, *index, [&cursor, &to, real, combine](int64_t offset, int64_t) {
    if (real) {
      double value;
      cursor.read(1, Compute::kDouble, &value);
      store_double(to, offset, combine == Combine::kWrite ? value : combined(combine, load_double(to, offset), value));
    } else {
      uint64_t value;
      cursor.read(1, Compute::kInt, &value);
      const auto old = static_cast<uint64_t>(combine == Combine::kWrite ? 0 : load_int(to, offset));
      const bool compares = combine == Combine::kMost || combine == Combine::kLeast;
      store_int(to, offset,
                compares ? combined(combine, static_cast<int64_t>(old), static_cast<int64_t>(value))
                         : static_cast<int64_t>(combined(combine, old, value)));
    }
  });
}

template <bool kInPlace, Combine kCombine>
bool scatter(Call& call) {
  return scatter_along(call, kInPlace, kCombine);
}
template <bool kInPlace>
bool scatter_named(Call& call) {
  Combine combine;
  return combine_named(call, 4, &combine) && scatter_along(call, kInPlace, combine);
}

template <bool kInPlace>
bool scatter_reduce(Call& call) {
  Combine combine;
  bool include_self;
  if (!combine_named(call, 4, &combine) || !bool_at(call, 5, &include_self)) return false;
  if (!include_self) return call.context.fail("scatter_reduce() without include_self is not in the list");
  return scatter_along(call, kInPlace, combine);
}

enum class SliceWrite { kCopy, kAdd, kFill };

// index_copy, index_add and index_fill: writes slices of the axis at the index's places.
bool run_write_slices(Call& call, SliceWrite write, bool in_place) {
  Tensor *target, *index, *source = nullptr;
  uint32_t axis;
  Parameters alpha;
  alpha.set(0, 1.0);
  if (!start_writing(call, in_place, &target) || !axis_at(call, 1, target->rank, &axis)) return false;
  if (!tensor_at(call, 2, &index)) return false;
  if (!is_index(*index) || index->rank > 1) return call.context.fail("the index needs one axis of int64");
  const int64_t count = index->numel();
  Tensor shaped = *target;
  if (shaped.rank == 0) {
    shaped.rank = 1;
    shaped.sizes[0] = shaped.strides[0] = 1;
  }
  Tensor from = shaped;
  Operand value;
  if (write == SliceWrite::kFill) {
    if (!value.read(call, 3)) return false;
    if (value.tensor().rank != 0) return call.context.fail("index_fill() needs a value without axes");
    if (!value.round_to(call.context.pool, target->dtype)) return call.context.fail_memory();
    from.storage = value.tensor().storage;
    from.offset = value.tensor().offset;
    std::fill(from.strides, from.strides + from.rank, 0);
  } else {
    if (!tensor_at(call, 3, &source) || !need_same_dtype(call, *target, *source)) return false;
    from = *source;
    if (from.rank == 0) {
      from.rank = 1;
      from.sizes[0] = from.strides[0] = 1;
    }
    bool fits = from.rank == shaped.rank && from.sizes[axis] == count;
    for (uint32_t i = 0; fits && i < from.rank; ++i) fits = i == axis || from.sizes[i] == shaped.sizes[i];
    if (!fits) return call.context.fail("the source doesn't fit into the indexed slices");
    if (write == SliceWrite::kAdd) {
      if (!is_number(call.input(4))) return call.context.fail("alpha needs a number");
      alpha.set(0, call.input(4));
    }
  }
  const int64_t size = shaped.sizes[axis], stride = shaped.strides[axis];
  const int64_t from_stride = write == SliceWrite::kFill ? 0 : from.strides[axis];
  shaped.sizes[axis] = from.sizes[axis] = 1;
  const bool is_empty = shaped.numel() == 0;
  Cursor cursor;
  cursor.start(*index);
  for (int64_t i = 0; i < count; ++i, from.offset += from_stride) {
    int64_t number;
    cursor.read(1, Compute::kInt, &number);
    if (!wrap_index(call, size, &number)) return false;
    if (is_empty) continue;
    shaped.offset = target->offset + number * stride;
    if (write == SliceWrite::kAdd) {
      add_elements(from, shaped, alpha);
    } else {
      copy_elements(from, shaped);
    }
  }
  return true;
}
template <SliceWrite kWrite, bool kInPlace>
bool write_slices(Call& call) {
  return run_write_slices(call, kWrite, kInPlace);
}

bool flip(Call& call) {
  Tensor* tensor;
  bool chosen[kMostAxes];
  int64_t axes[kMostAxes];
  uint32_t count;
  if (!tensor_at(call, 0, &tensor)) return false;
  if (!ints_at(call, 1, kMostAxes, axes, &count) || !axes_at(call, 1, tensor->rank, chosen)) return false;
  if (count == 0) std::fill(chosen, chosen + kMostAxes, false);
  Tensor* result = make_tensor(call.context.pool, tensor->dtype, tensor->rank, tensor->sizes);
  if (!give(call, 0, result)) return false;
  int64_t strides[kMostAxes], place[kMostAxes] = {}, offset = tensor->offset;
  const int64_t all = tensor->numel();
  if (all == 0) return true;
  for (uint32_t i = 0; i < tensor->rank; ++i) {
    strides[i] = chosen[i] ? -tensor->strides[i] : tensor->strides[i];
    if (chosen[i]) offset += (tensor->sizes[i] - 1) * tensor->strides[i];
  }
  const size_t bytes = element_bytes(tensor->dtype);
  uint8_t* to = result->bytes();
  for (int64_t i = 0; i < all; ++i, to += bytes) {
    copy_element(bytes, tensor->storage->data + offset * static_cast<int64_t>(bytes), to);
    step(tensor->rank, tensor->sizes, strides, place, &offset);
  }
  return true;
}

// The numbers 0, 1, ... each as often as `repeats` says.
Tensor* make_repeated_numbers(Call& call, const Tensor& repeats) {
  const int64_t count = repeats.numel();
  int64_t sum = 0;
  Cursor cursor;
  cursor.start(repeats);
  for (int64_t i = 0; i < count; ++i) {
    int64_t times;
    cursor.read(1, Compute::kInt, &times);
    if (times < 0 || times > (int64_t{1} << 56) - sum) {
      call.context.fail("%lld repeats", static_cast<long long>(times));
      return nullptr;
    }
    sum += times;
  }
  Tensor* numbers = make_tensor(call.context.pool, ScalarType::kInt64, 1, &sum);
  if (numbers == nullptr) {
    call.context.fail_memory();
    return nullptr;
  }
  auto* out = numbers->data<int64_t>();
  cursor.start(repeats);
  for (int64_t i = 0; i < count; ++i) {
    int64_t times;
    cursor.read(1, Compute::kInt, &times);
    out = std::fill_n(out, times, i);
  }
  return numbers;
}

bool repeat_numbers(Call& call) {
  Tensor* repeats;
  if (!tensor_at(call, 0, &repeats)) return false;
  if (!is_index(*repeats) || repeats->rank != 1) return call.context.fail("repeats need one axis of whole numbers");
  Tensor* numbers = make_repeated_numbers(call, *repeats);
  if (numbers == nullptr) return false;
  call.outputs[0] = Value(numbers);
  return true;
}

bool repeat_interleave(Call& call) {
  Tensor* tensor;
  uint32_t axis = 0;
  if (!tensor_at(call, 0, &tensor)) return false;
  Value flat = call.input(0);
  if (call.input(2).is_none()) {
    flat = Value(contiguous(call.context.pool, *tensor));
    if (flat.is_none()) return call.context.fail_memory();
    Tensor* view = make_view(call.context.pool, flat.tensor());
    if (view == nullptr) return call.context.fail_memory();
    view->sizes[0] = tensor->numel();
    view->strides[0] = 1;
    view->rank = 1;
    flat = Value(view);
  } else if (tensor->rank == 0 || !axis_at(call, 2, tensor->rank, &axis)) {
    return call.context.fail("repeat_interleave() needs an axis of the tensor");
  }
  const Tensor& from = flat.tensor();
  Operand repeats;
  if (!repeats.read(call, 1)) return false;
  const bool is_list = repeats.tensor().rank == 1 && repeats.tensor().sizes[0] == from.sizes[axis];
  if (is_floating(repeats.tensor().dtype) || (!is_list && repeats.tensor().numel() != 1)) {
    return call.context.fail("repeats need one number, or one for each element of the axis");
  }
  Tensor each = repeats.tensor();
  if (!is_list) {
    each.rank = 1;
    each.strides[0] = 0;
    each.sizes[0] = from.sizes[axis];
  }
  const Value numbers(make_repeated_numbers(call, each));
  if (numbers.is_none()) return false;
  int64_t sizes[kMostAxes];
  std::copy(from.sizes, from.sizes + from.rank, sizes);
  sizes[axis] = numbers.tensor().sizes[0];
  return give_selected(call, from, axis, numbers.tensor(), from.rank, sizes);
}

constexpr OperatorRow kRows[] = {
    {"aten::_index_put_impl_.,hacked_twin", 5, 1, index_put<true>},
    {"aten::argwhere", 1, 1, nonzero},
    {"aten::embedding", 5, 1, embedding},
    {"aten::flip", 2, 1, flip},
    {"aten::gather", 4, 1, gather},
    {"aten::index.Tensor,Tensor_hacked_twin", 2, 1, index},
    {"aten::index_add", 5, 1, write_slices<SliceWrite::kAdd, false>},
    {"aten::index_add_", 5, 1, write_slices<SliceWrite::kAdd, true>},
    {"aten::index_copy", 4, 1, write_slices<SliceWrite::kCopy, false>},
    {"aten::index_copy_", 4, 1, write_slices<SliceWrite::kCopy, true>},
    {"aten::index_fill.int_Scalar,int_Tensor", 4, 1, write_slices<SliceWrite::kFill, false>},
    {"aten::index_fill_.int_Scalar,int_Tensor", 4, 1, write_slices<SliceWrite::kFill, true>},
    {"aten::index_put.,hacked_twin", 4, 1, index_put<false>},
    {"aten::index_put_.,hacked_twin", 4, 1, index_put<true>},
    {"aten::index_select", 3, 1, index_select},
    {"aten::masked_scatter", 3, 1, masked_scatter<false>},
    {"aten::masked_scatter_", 3, 1, masked_scatter<true>},
    {"aten::masked_select", 2, 1, masked_select},
    {"aten::nonzero", 1, 1, nonzero},
    {"aten::nonzero_numpy", 1, 1, nonzero_list},
    {"aten::repeat_interleave.Tensor", 2, 1, repeat_numbers},
    {"aten::repeat_interleave.self_int,self_Tensor", 4, 1, repeat_interleave},
    {"aten::scatter.reduce,value_reduce", 5, 1, scatter_named<false>},
    {"aten::scatter.src,value", 4, 1, scatter<false, Combine::kWrite>},
    {"aten::scatter_.reduce,value_reduce", 5, 1, scatter_named<true>},
    {"aten::scatter_.src,value", 4, 1, scatter<true, Combine::kWrite>},
    {"aten::scatter_add", 4, 1, scatter<false, Combine::kAdd>},
    {"aten::scatter_add_", 4, 1, scatter<true, Combine::kAdd>},
    {"aten::scatter_reduce.two", 6, 1, scatter_reduce<false>},
    {"aten::scatter_reduce_.two", 6, 1, scatter_reduce<true>},
    {"aten::take", 2, 1, take},
    {"aten::take_along_dim", 3, 1, take_along_dim},
    {"aten::where", 1, 1, nonzero_list},
};

}  // namespace

const OperatorTable indexing_operators = {kRows, std::size(kRows)};

}  // namespace nnapi_shim::program
