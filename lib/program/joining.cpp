// SPDX-License-Identifier: BSD-3-Clause
// Operators that put tensors together or repeat them.
#include <algorithm>
#include <cstring>
#include <limits>

#include "lib/program/arguments.h"
#include "lib/program/operator_table.h"

namespace nnapi_shim::program {

namespace {

// Copies `part` to its place along the axis.
void copy_to_place(const Tensor& part, const Tensor& whole, uint32_t axis, int64_t start) {
  Tensor place = whole;
  place.offset += start * whole.strides[axis];
  std::copy(part.sizes, part.sizes + whole.rank, place.sizes);
  if (part.numel() > 0) copy_elements(part, place);
}

bool common_type(Call& call, const Sequence& list, ScalarType* dtype) {
  if (list.count == 0) return call.context.fail("the list of tensors is empty");
  Promotion promotion;
  for (uint32_t i = 0; i < list.count; ++i) promotion.add(list.values[i].tensor());
  *dtype = promotion.result();
  return true;
}

bool is_legacy_empty(const Tensor& tensor) {
  return tensor.rank == 1 && tensor.sizes[0] == 0;
}

// Returns in `result` an axis of a shape with `rank` axes.
bool join_axis(Call& call, int64_t axis, uint32_t rank, uint32_t* result) {
  return rank > 0 ? wrap_axis(call, axis, rank, result) : call.context.fail("tensors without axes can't be joined");
}

bool join(Call& call, const Sequence& list, int64_t axis_number) {
  ScalarType dtype;
  if (!common_type(call, list, &dtype)) return false;
  const Tensor* first = nullptr;
  for (uint32_t i = 0; i < list.count && first == nullptr; ++i) {
    const Tensor& tensor = list.values[i].tensor();
    if (tensor.rank == 0) return call.context.fail("tensors without axes can't be joined");
    if (!is_legacy_empty(tensor)) first = &tensor;
  }
  if (first == nullptr) first = &list.values[0].tensor();
  uint32_t axis;
  if (!join_axis(call, axis_number, first->rank, &axis)) return false;
  int64_t sizes[kMostAxes];
  std::copy(first->sizes, first->sizes + first->rank, sizes);
  sizes[axis] = 0;
  bool are_channels_last = true;  // as NNAPI's outputs are; the result is channels_last then, too, as in PyTorch
  for (uint32_t i = 0; i < list.count; ++i) {
    const Tensor& tensor = list.values[i].tensor();
    if (is_legacy_empty(tensor)) continue;
    bool fits = tensor.rank == first->rank;
    for (uint32_t k = 0; fits && k < tensor.rank; ++k) fits = k == axis || tensor.sizes[k] == sizes[k];
    if (!fits) return call.context.fail("tensors can be joined only if their other axes have the same sizes");
    if (tensor.sizes[axis] > std::numeric_limits<int64_t>::max() - sizes[axis]) return call.context.fail_memory();
    sizes[axis] += tensor.sizes[axis];
    are_channels_last = are_channels_last && tensor.is_contiguous_channels_last() && !tensor.is_contiguous();
  }
  Pool& pool = call.context.pool;
  Tensor* result = are_channels_last && first->rank == 4 ? make_channels_last(pool, dtype, sizes)
                                                         : make_tensor(pool, dtype, first->rank, sizes);
  if (!give(call, 0, result)) return false;
  int64_t start = 0;
  for (uint32_t i = 0; i < list.count; ++i) {
    const Tensor& tensor = list.values[i].tensor();
    if (is_legacy_empty(tensor)) continue;
    copy_to_place(tensor, *result, axis, start);
    start += tensor.sizes[axis];
  }
  return true;
}

bool cat(Call& call) {
  const Sequence* list;
  int64_t axis;
  return tensors_at(call, 0, false, &list) && int_at(call, 1, &axis) && join(call, *list, axis);
}

bool stack(Call& call) {
  const Sequence* list;
  int64_t axis_number;
  ScalarType dtype;
  if (!tensors_at(call, 0, false, &list) || !int_at(call, 1, &axis_number)) return false;
  if (!common_type(call, *list, &dtype)) return false;
  const Tensor& first = list->values[0].tensor();
  uint32_t axis;
  if (first.rank == kMostAxes) return call.context.fail("a tensor has at most %u axes", kMostAxes);
  if (!wrap_axis(call, axis_number, first.rank + 1, &axis)) return false;
  int64_t sizes[kMostAxes];
  std::copy(first.sizes, first.sizes + axis, sizes);
  sizes[axis] = list->count;
  std::copy(first.sizes + axis, first.sizes + first.rank, sizes + axis + 1);
  for (uint32_t i = 1; i < list->count; ++i) {
    if (!need_same_sizes(call, list->values[i].tensor(), first)) return false;
  }
  Tensor* result = make_tensor(call.context.pool, dtype, first.rank + 1, sizes);
  if (!give(call, 0, result)) return false;
  if (result->numel() == 0) return true;
  Tensor place = *result;
  std::copy(result->sizes + axis + 1, result->sizes + result->rank, place.sizes + axis);
  std::copy(result->strides + axis + 1, result->strides + result->rank, place.strides + axis);
  --place.rank;
  for (uint32_t i = 0; i < list->count; ++i) {
    copy_elements(list->values[i].tensor(), place);
    place.offset += result->strides[axis];
  }
  return true;
}

// Runs hstack, vstack and dstack: tensors get axes up to the rank `least` before they are joined.
bool join_of_rank(Call& call, uint32_t least, int64_t axis, bool columns) {
  const Sequence* list;
  if (!tensors_at(call, 0, false, &list)) return false;
  const Value parts(make_sequence(call.context.pool, Tag::kList, list->count));
  if (parts.is_none()) return call.context.fail_memory();
  for (uint32_t i = 0; i < list->count; ++i) {
    const Tensor& tensor = list->values[i].tensor();
    Tensor* view = make_view(call.context.pool, tensor);
    if (view == nullptr) return call.context.fail_memory();
    parts.sequence().values[i] = Value(view);
    while (view->rank < least) {
      // With `columns` an axis is added behind, for vstack in front; for dstack first in front, then behind.
      const bool behind = columns ? view->rank > 0 : view->rank == 2;
      const uint32_t place = behind ? view->rank : 0;
      std::copy_backward(view->sizes + place, view->sizes + view->rank, view->sizes + view->rank + 1);
      std::copy_backward(view->strides + place, view->strides + view->rank, view->strides + view->rank + 1);
      view->sizes[place] = 1;
      view->strides[place] = 1;
      ++view->rank;
    }
  }
  if (list->count > 0 && least == 1 && parts.sequence().values[0].tensor().rank > 1) axis = 1;
  return join(call, parts.sequence(), axis);
}

bool hstack(Call& call) {
  return join_of_rank(call, 1, 0, false);
}
bool vstack(Call& call) {
  return join_of_rank(call, 2, 0, false);
}
bool dstack(Call& call) {
  return join_of_rank(call, 3, 2, false);
}
bool column_stack(Call& call) {
  return join_of_rank(call, 2, 1, true);
}

bool repeat_tensor(Call& call, const Tensor& tensor, uint32_t rank, const int64_t* repeats) {
  Pool& pool = call.context.pool;
  if (rank < tensor.rank) return call.context.fail("%u axes are repeated, the tensor has %u", rank, tensor.rank);
  Value current(make_view(pool, tensor));
  if (current.is_none()) return call.context.fail_memory();
  Tensor& view = current.tensor();
  const uint32_t missing = rank - view.rank;
  std::copy_backward(view.sizes, view.sizes + view.rank, view.sizes + rank);
  std::copy_backward(view.strides, view.strides + view.rank, view.strides + rank);
  for (uint32_t i = 0; i < missing; ++i) view.sizes[i] = view.strides[i] = 1;
  view.rank = rank;
  bool copied = false;
  for (uint32_t axis = rank; axis-- > 0;) {
    if (repeats[axis] < 0) return call.context.fail("%lld repeats", static_cast<long long>(repeats[axis]));
    const bool is_last = axis == 0 && !copied;
    if (repeats[axis] == 1 && !is_last) continue;
    const Tensor& from = current.tensor();
    int64_t sizes[kMostAxes];
    std::copy(from.sizes, from.sizes + rank, sizes);
    if (repeats[axis] > 0 && sizes[axis] > std::numeric_limits<int64_t>::max() / repeats[axis]) {
      return call.context.fail_memory();
    }
    sizes[axis] *= repeats[axis];
    const Value next(make_tensor(pool, tensor.dtype, rank, sizes));
    if (next.is_none()) return call.context.fail_memory();
    for (int64_t i = 0; i < repeats[axis] && from.numel() > 0; ++i) {
      copy_to_place(from, next.tensor(), axis, i * from.sizes[axis]);
    }
    current = next;
    copied = true;
  }
  if (!copied) {
    return give(call, 0, row_major_copy(pool, current.tensor(), tensor.dtype));
  }
  call.outputs[0] = current;
  return true;
}

bool repeat(Call& call) {
  Tensor* tensor;
  int64_t repeats[kMostAxes];
  uint32_t count;
  if (!tensor_at(call, 0, &tensor) || !ints_at(call, 1, kMostAxes, repeats, &count)) return false;
  return repeat_tensor(call, *tensor, count, repeats);
}

bool tile(Call& call) {
  Tensor* tensor;
  int64_t repeats[kMostAxes];
  uint32_t count;
  if (!tensor_at(call, 0, &tensor) || !ints_at(call, 1, kMostAxes, repeats, &count)) return false;
  if (count < tensor->rank) {
    std::copy_backward(repeats, repeats + count, repeats + tensor->rank);
    std::fill(repeats, repeats + tensor->rank - count, 1);
    count = tensor->rank;
  }
  return repeat_tensor(call, *tensor, count, repeats);
}

bool meshgrid(Call& call) {
  const Sequence* list;
  const char* indexing = nullptr;
  if (!tensors_at(call, 0, false, &list)) return false;
  if (call.input_count > 1 && !optional_text_at(call, 1, &indexing)) return false;
  const bool swaps = indexing != nullptr && std::strcmp(indexing, "xy") == 0 && list->count > 1;
  if (list->count == 0 || list->count > kMostAxes) return call.context.fail("meshgrid() of %u tensors", list->count);
  const uint32_t rank = list->count;
  int64_t sizes[kMostAxes];
  const auto axis_of = [swaps](uint32_t number) { return swaps && number < 2 ? 1 - number : number; };
  for (uint32_t i = 0; i < rank; ++i) {
    const Tensor& tensor = list->values[i].tensor();
    if (tensor.rank > 1) return call.context.fail("meshgrid() needs tensors of at most one axis");
    if (tensor.dtype != list->values[0].tensor().dtype) return call.context.fail("meshgrid() needs one dtype");
    sizes[axis_of(i)] = tensor.numel();
  }
  Sequence* result = make_sequence(call.context.pool, Tag::kList, rank);
  if (result == nullptr) return call.context.fail_memory();
  call.outputs[0] = Value(result);
  const int64_t none[kMostAxes] = {};
  for (uint32_t i = 0; i < rank; ++i) {
    const Tensor& tensor = list->values[i].tensor();
    Tensor shaped = tensor;
    shaped.rank = rank;
    std::copy(none, none + rank, shaped.strides);
    std::fill(shaped.sizes, shaped.sizes + rank, 1);
    shaped.sizes[axis_of(i)] = tensor.numel();
    shaped.strides[axis_of(i)] = tensor.rank == 1 ? tensor.strides[0] : 1;
    result->values[i] = Value(make_expanded(call.context.pool, shaped, rank, sizes));
    if (result->values[i].is_none()) return call.context.fail_memory();
  }
  return true;
}

bool roll(Call& call) {
  Tensor* tensor;
  int64_t shifts[kMostAxes], axes[kMostAxes];
  uint32_t count, axis_count;
  if (!tensor_at(call, 0, &tensor) || !ints_at(call, 1, kMostAxes, shifts, &count)) return false;
  if (!ints_at(call, 2, kMostAxes, axes, &axis_count)) return false;
  Pool& pool = call.context.pool;
  Value current(contiguous(pool, *tensor));
  if (current.is_none()) return call.context.fail_memory();
  const bool is_flat = axis_count == 0 && count == 1;
  if (!is_flat && count != axis_count) return call.context.fail("roll() of %u axes by %u shifts", axis_count, count);
  if (is_flat) {
    Tensor* view = make_view(pool, current.tensor());
    if (view == nullptr) return call.context.fail_memory();
    view->sizes[0] = view->numel();
    view->strides[0] = 1;
    view->rank = 1;
    axes[0] = 0;
    current = Value(view);
  }
  Value copied;
  for (uint32_t i = 0; i < count; ++i) {
    const Tensor& from = current.tensor();
    uint32_t axis;
    if (!wrap_axis(call, axes[i], from.rank, &axis)) return false;
    const Value next(make_tensor(pool, from.dtype, from.rank, from.sizes));
    if (next.is_none()) return call.context.fail_memory();
    const int64_t size = from.rank > 0 ? from.sizes[axis] : 0;
    if (from.numel() > 0 && size > 0) {
      int64_t shift = shifts[i] % size;
      if (shift < 0) shift += size;
      for (int part = 0; part < 2; ++part) {
        Tensor piece = from;
        piece.sizes[axis] = part == 0 ? size - shift : shift;
        if (part == 1) piece.offset += (size - shift) * from.strides[axis];
        copy_to_place(piece, next.tensor(), axis, part == 0 ? shift : 0);
      }
    } else if (from.numel() > 0) {
      copy_elements(from, next.tensor());
    }
    current = next;
  }
  if (is_flat) {
    Tensor& result = current.tensor();
    result.rank = tensor->rank;
    int64_t stride = 1;
    for (uint32_t i = result.rank; i-- > 0;) {
      result.sizes[i] = tensor->sizes[i];
      result.strides[i] = stride;
      stride *= std::max<int64_t>(tensor->sizes[i], 1);
    }
  }
  call.outputs[0] = current;
  return true;
}

constexpr OperatorRow kRows[] = {
    {"aten::cat", 2, 1, cat},           {"aten::column_stack", 1, 1, column_stack},
    {"aten::concat", 2, 1, cat},        {"aten::concatenate", 2, 1, cat},
    {"aten::dstack", 1, 1, dstack},     {"aten::hstack", 1, 1, hstack},
    {"aten::meshgrid", 1, 1, meshgrid}, {"aten::meshgrid.indexing", 2, 1, meshgrid},
    {"aten::repeat", 2, 1, repeat},     {"aten::roll", 3, 1, roll},
    {"aten::row_stack", 1, 1, vstack},  {"aten::stack", 2, 1, stack},
    {"aten::tile", 2, 1, tile},         {"aten::vstack", 1, 1, vstack},
};

}  // namespace

const OperatorTable joining_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
