// SPDX-License-Identifier: BSD-3-Clause
// Operators that read elements at places that a tensor of indices or a mask names.
#include <algorithm>
#include <cstring>

#include "lib/program/arguments.h"
#include "lib/program/indices.h"
#include "lib/program/operator_table.h"

namespace nnapi_shim::program {

namespace {

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
  IndexReader indices(index);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t number = indices.next();
    if (!need_in_range(call, size, number)) return false;
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

bool masked_select(Call& call) {
  Tensor *tensor, *mask;
  Value a, b;
  if (!tensor_at(call, 0, &tensor) || !tensor_at(call, 1, &mask) || !need_mask(call, *mask)) return false;
  if (!broadcast_both(call, *tensor, *mask, &a, &b)) return false;
  const int64_t count = count_nonzero(b.tensor());
  Tensor* result = make_tensor(call.context.pool, tensor->dtype, 1, &count);
  if (!give(call, 0, result)) return false;
  return move_masked(a.tensor(), b.tensor(), *result, true, count);
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
  IndexReader indices(*index);
  for (int64_t i = 0; i < count; ++i, to += bytes) {
    int64_t number = indices.next();
    if (!wrap_index(call, size, &number)) return false;
    copy_element(bytes, from + number * static_cast<int64_t>(bytes), to);
  }
  return true;
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
  // Both have the same sizes except along the axis.
  int64_t sizes[2][kMostAxes];
  for (uint32_t i = 0; i < tensor->rank; ++i) {
    const int64_t a = sizes[0][i] = tensor->sizes[i], b = sizes[1][i] = index->sizes[i];
    if (i == axis || a == b) continue;
    if (a != 1 && b != 1) return call.context.fail("take_along_dim() of sizes that don't fit");
    sizes[0][i] = sizes[1][i] = a == 1 ? b : a;
  }
  const Value from(make_expanded(call.context.pool, *tensor, tensor->rank, sizes[0]));
  const Value places(make_expanded(call.context.pool, *index, index->rank, sizes[1]));
  if (from.is_none() || places.is_none()) return call.context.fail_memory();
  return gather_along(call, from.tensor(), axis, places.tensor());
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

// Returns the numbers 0, 1, ..., each as often as `repeats` says.
Tensor* make_repeated_numbers(Call& call, const Tensor& repeats) {
  const int64_t count = repeats.numel();
  int64_t sum = 0;
  IndexReader reader(repeats);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t times = reader.next();
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
  IndexReader again(repeats);
  for (int64_t i = 0; i < count; ++i) out = std::fill_n(out, again.next(), i);
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
    {"aten::embedding", 5, 1, embedding},
    {"aten::flip", 2, 1, flip},
    {"aten::gather", 4, 1, gather},
    {"aten::index_select", 3, 1, index_select},
    {"aten::masked_select", 2, 1, masked_select},
    {"aten::repeat_interleave.Tensor", 2, 1, repeat_numbers},
    {"aten::repeat_interleave.self_int,self_Tensor", 4, 1, repeat_interleave},
    {"aten::take", 2, 1, take},
    {"aten::take_along_dim", 3, 1, take_along_dim},
};

}  // namespace

const OperatorTable gathering_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
