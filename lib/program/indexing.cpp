// SPDX-License-Identifier: BSD-3-Clause
// Operators that read and write elements at places that a list of tensors names, one for each axis, and the places of
// elements that aren't zero.
#include <algorithm>
#include <cstring>

#include "lib/program/arguments.h"
#include "lib/program/indices.h"
#include "lib/program/operator_table.h"
#include "lib/program/view_axes.h"

namespace nnapi_shim::program {

namespace {

// Returns the places of elements that aren't zero: a tensor of int64 [count, axes].
Tensor* make_nonzero(Pool& pool, const Tensor& tensor) {
  const int64_t all = tensor.numel(), sizes[2] = {count_nonzero(tensor), tensor.rank};
  Tensor* result = make_tensor(pool, ScalarType::kInt64, 2, sizes);
  if (result == nullptr) return nullptr;
  auto* out = result->data<int64_t>();
  if (tensor.rank == 1 && is_byte_run(tensor)) {
    const uint8_t* bytes = tensor.bytes();
    const int64_t* const end = out + sizes[0];
    // Places of zeros are written and then overwritten: that takes less time than a branch.
    for (int64_t i = 0; out < end && i < all; ++i) {
      *out = i;
      out += bytes[i] != 0 ? 1 : 0;
    }
    return result;
  }
  int64_t place[kMostAxes] = {}, offset = 0;
  const int64_t strides[kMostAxes] = {};
  double buffer[kChunk];
  Cursor cursor;
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

// Sets `columns` to the columns of make_nonzero().
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
  add_missing_axis(shaped);
  Sequence* list = make_sequence(call.context.pool, Tag::kList, shaped.rank);
  if (list == nullptr) return call.context.fail_memory();
  call.outputs[0] = Value(list);
  return nonzero_columns(call, shaped, list->values);
}

// Elements of a tensor that are chosen together: blocks of the axes that aren't indexed, at offsets.
struct Choice {
  Value offsets;  // int64, in elements of the storage, one for each block
  int64_t count = 0;
  uint32_t rank = 0;  // the result's rank
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
    IndexReader reader(index.tensor());
    for (int64_t i = 0; i < choice->count; ++i) {
      int64_t number = reader.next();
      if (!wrap_index(call, tensor.sizes[axis], &number)) return false;
      out[i] += number * tensor.strides[axis];
    }
  }
  choice->offsets = offsets;
  return true;
}

// How move_blocks() moves blocks between a tensor and `whole`, a row-major tensor of the choice's sizes.
enum class Move { kRead, kWrite, kAdd };

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
  const int64_t elements = block.numel();
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

// The rows of a tensor that a mask takes.
struct MaskedRows {
  const uint8_t *from, *is_taken;
  int64_t count, step;
  uint8_t *to, *end;
};

// Copies each row; the next one overwrites a row that is not taken, which takes less time than a branch.
template <size_t kBytes>
void copy_short(MaskedRows rows) {
  for (int64_t i = 0; rows.to < rows.end && i < rows.count; ++i, rows.from += rows.step) {
    std::memcpy(rows.to, rows.from, kBytes);
    rows.to += rows.is_taken[i] != 0 ? kBytes : 0;
  }
}
void copy_long(MaskedRows rows, size_t bytes) {
  for (int64_t i = 0; rows.to < rows.end && i < rows.count; ++i, rows.from += rows.step) {
    if (rows.is_taken[i] == 0) continue;
    std::memcpy(rows.to, rows.from, bytes);
    rows.to += bytes;
  }
}

// Reads the rows of the tensor that a mask of one axis takes, where their elements stand side by side. Returns false if
// the index is another one.
bool read_masked_rows(Call& call, const Tensor& tensor, const Sequence& list, bool* is_done) {
  if (list.count != 1 || !list.values[0].is_tensor() || tensor.rank == 0) return false;
  const Tensor& mask = list.values[0].tensor();
  if (!is_mask(mask) || mask.rank != 1 || mask.sizes[0] != tensor.sizes[0] || !is_byte_run(mask)) return false;
  Tensor row = tensor;
  row.sizes[0] = 1;
  if (!row.is_contiguous()) return false;
  int64_t sizes[kMostAxes];
  std::copy(tensor.sizes, tensor.sizes + tensor.rank, sizes);
  sizes[0] = count_nonzero(mask);
  Tensor* result = make_tensor(call.context.pool, tensor.dtype, tensor.rank, sizes);
  *is_done = give(call, 0, result);
  if (!*is_done) return true;
  const size_t bytes = element_bytes(tensor.dtype), each = static_cast<size_t>(row.numel()) * bytes;
  const int64_t step = tensor.strides[0] * static_cast<int64_t>(bytes);
  uint8_t* const to = result->bytes();
  const MaskedRows rows = {tensor.bytes(), mask.bytes(), mask.sizes[0],
                           step,           to,           to + static_cast<size_t>(sizes[0]) * each};
  switch (each) {
    case 4:
      copy_short<4>(rows);
      break;
    case 16:
      copy_short<16>(rows);
      break;
    default:
      copy_long(rows, each);
  }
  return true;
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
    return give(call, 0, row_major_copy(call.context.pool, *tensor, tensor->dtype));
  }
  bool is_done = false;
  if (read_masked_rows(call, *tensor, *list, &is_done)) return is_done;
  if (!choose(call, *tensor, *list, &choice)) return false;
  Tensor* result = make_tensor(call.context.pool, tensor->dtype, choice.rank, choice.sizes);
  if (!give(call, 0, result)) return false;
  move_blocks(*tensor, choice, *result, Move::kRead);
  return true;
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
  const Value whole(row_major_copy(call.context.pool, expanded.tensor(), source.dtype));
  if (whole.is_none()) return call.context.fail_memory();
  move_blocks(*target, choice, whole.tensor(), accumulate ? Move::kAdd : Move::kWrite);
  return true;
}
template <bool kInPlace>
bool index_put(Call& call) {
  return run_index_put(call, kInPlace);
}

constexpr OperatorRow kRows[] = {
    {"aten::_index_put_impl_.,hacked_twin", 5, 1, index_put<true>},
    {"aten::argwhere", 1, 1, nonzero},
    {"aten::index.Tensor,Tensor_hacked_twin", 2, 1, index},
    {"aten::index_put.,hacked_twin", 4, 1, index_put<false>},
    {"aten::index_put_.,hacked_twin", 4, 1, index_put<true>},
    {"aten::nonzero", 1, 1, nonzero},
    {"aten::nonzero_numpy", 1, 1, nonzero_list},
    {"aten::where", 1, 1, nonzero_list},
};

}  // namespace

const OperatorTable indexing_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
