// Operators whose result shares the elements of their argument, and what is asked about a tensor's form.
#include <algorithm>
#include <iterator>
#include <limits>

#include "lib/program/arguments.h"

namespace nnapi_shim::program {

namespace {

// A new view of the first argument; null after failing.
Tensor* view_of_first(Call& call) {
  Tensor* tensor;
  if (!tensor_at(call, 0, &tensor)) return nullptr;
  Tensor* view = make_view(call.context.pool, *tensor);
  if (view == nullptr) call.context.fail_memory();
  return view;
}

void remove_axis(Tensor& view, uint32_t axis) {
  std::copy(view.sizes + axis + 1, view.sizes + view.rank, view.sizes + axis);
  std::copy(view.strides + axis + 1, view.strides + view.rank, view.strides + axis);
  --view.rank;
}

bool need_axes(Call& call, const Tensor& tensor) {
  return tensor.rank > 0 || call.context.fail("the tensor has no axes");
}

// Leaves `length` elements of the axis from `start`, which are in range.
void narrow_view(Tensor& view, uint32_t axis, int64_t start, int64_t length) {
  if (length > 0) view.offset += start * view.strides[axis];
  view.sizes[axis] = length;
}

int64_t clamped(int64_t value, int64_t size) {
  if (value < 0) value += size;
  return std::min(std::max<int64_t>(value, 0), size);
}

// Slices the view as arguments `first` to `first` + 3 (axis, start, end, step) say.
bool slice_view(Call& call, uint32_t first, Tensor& view) {
  uint32_t axis;
  int64_t start, end, step;
  if (!need_axes(call, view) || !axis_at(call, first, view.rank, &axis)) return false;
  if (!optional_int_at(call, first + 1, 0, &start) || !int_at(call, first + 3, &step)) return false;
  if (!optional_int_at(call, first + 2, std::numeric_limits<int64_t>::max(), &end)) return false;
  if (step <= 0) return call.context.fail("the step of a slice is %lld, needs 1 or more", static_cast<long long>(step));
  start = clamped(start, view.sizes[axis]);
  end = std::max(start, clamped(end, view.sizes[axis]));
  const int64_t length = end - start;
  narrow_view(view, axis, start, length == 0 ? 0 : 1 + (length - 1) / step);
  if (view.sizes[axis] > 1) view.strides[axis] *= step;
  return true;
}

bool select_view(Call& call, uint32_t first, Tensor& view) {
  uint32_t axis;
  int64_t index;
  if (!need_axes(call, view) || !axis_at(call, first, view.rank, &axis) || !int_at(call, first + 1, &index)) {
    return false;
  }
  const int64_t size = view.sizes[axis];
  if (index < -size || index >= size) {
    return call.context.fail("index %lld is out of range for axis %u of size %lld", static_cast<long long>(index), axis,
                             static_cast<long long>(size));
  }
  narrow_view(view, axis, index < 0 ? index + size : index, 1);
  remove_axis(view, axis);
  return true;
}

bool unsqueeze_view(Call& call, uint32_t number, Tensor& view) {
  uint32_t axis;
  if (view.rank == kMostAxes) return call.context.fail("a tensor has at most %u axes", kMostAxes);
  if (!axis_at(call, number, view.rank + 1, &axis)) return false;
  const int64_t stride = axis < view.rank ? view.sizes[axis] * view.strides[axis] : 1;
  std::copy_backward(view.sizes + axis, view.sizes + view.rank, view.sizes + view.rank + 1);
  std::copy_backward(view.strides + axis, view.strides + view.rank, view.strides + view.rank + 1);
  view.sizes[axis] = 1;
  view.strides[axis] = std::max<int64_t>(stride, 1);
  ++view.rank;
  return true;
}

bool squeeze_view(Call& call, uint32_t number, Tensor& view) {
  const bool all = call.input_count == 1;
  uint32_t axis = 0;
  if (!all && !axis_at(call, number, view.rank, &axis)) return false;
  for (uint32_t i = view.rank; i-- > 0;) {
    if (view.sizes[i] == 1 && (all || i == axis)) remove_axis(view, i);
  }
  return true;
}

bool transpose_view(Call& call, uint32_t number, Tensor& view) {
  uint32_t a, b;
  if (!axis_at(call, number, view.rank, &a) || !axis_at(call, number + 1, view.rank, &b)) return false;
  if (view.rank == 0) return true;
  std::swap(view.sizes[a], view.sizes[b]);
  std::swap(view.strides[a], view.strides[b]);
  return true;
}

bool t_view(Call& call, uint32_t, Tensor& view) {
  if (view.rank > 2) return call.context.fail("t() needs at most 2 axes, found %u", view.rank);
  if (view.rank == 2) {
    std::swap(view.sizes[0], view.sizes[1]);
    std::swap(view.strides[0], view.strides[1]);
  }
  return true;
}

bool last_two_view(Call& call, uint32_t, Tensor& view) {
  if (view.rank == 0) return true;
  if (view.rank < 2) return call.context.fail("needs at least 2 axes, found %u", view.rank);
  std::swap(view.sizes[view.rank - 1], view.sizes[view.rank - 2]);
  std::swap(view.strides[view.rank - 1], view.strides[view.rank - 2]);
  return true;
}

bool reversed_view(Call&, uint32_t, Tensor& view) {
  std::reverse(view.sizes, view.sizes + view.rank);
  std::reverse(view.strides, view.strides + view.rank);
  return true;
}

void permute_axes(Tensor& view, const uint32_t* order) {
  int64_t sizes[kMostAxes], strides[kMostAxes];
  for (uint32_t i = 0; i < view.rank; ++i) {
    sizes[i] = view.sizes[order[i]];
    strides[i] = view.strides[order[i]];
  }
  std::copy(sizes, sizes + view.rank, view.sizes);
  std::copy(strides, strides + view.rank, view.strides);
}

bool permute_view(Call& call, uint32_t number, Tensor& view) {
  int64_t axes[kMostAxes];
  uint32_t count, order[kMostAxes];
  bool seen[kMostAxes] = {};
  if (!ints_at(call, number, kMostAxes, axes, &count)) return false;
  if (count != view.rank) return call.context.fail("%u axes are permuted, the tensor has %u", count, view.rank);
  for (uint32_t i = 0; i < count; ++i) {
    if (!wrap_axis(call, axes[i], view.rank, &order[i])) return false;
    if (seen[order[i]]) return call.context.fail("axis %u stands twice in the permutation", order[i]);
    seen[order[i]] = true;
  }
  permute_axes(view, order);
  return true;
}

bool movedim_view(Call& call, uint32_t number, Tensor& view) {
  int64_t from[kMostAxes], to[kMostAxes];
  uint32_t from_count, to_count, order[kMostAxes];
  if (!ints_at(call, number, kMostAxes, from, &from_count)) return false;
  if (!ints_at(call, number + 1, kMostAxes, to, &to_count)) return false;
  if (from_count != to_count) return call.context.fail("%u axes are moved to %u places", from_count, to_count);
  if (view.rank == 0) return true;
  bool moved[kMostAxes] = {}, taken[kMostAxes] = {};
  for (uint32_t i = 0; i < from_count; ++i) {
    uint32_t source, target;
    if (!wrap_axis(call, from[i], view.rank, &source) || !wrap_axis(call, to[i], view.rank, &target)) return false;
    if (moved[source] || taken[target]) return call.context.fail("an axis stands twice in movedim()");
    moved[source] = taken[target] = true;
    order[target] = source;
  }
  uint32_t next = 0;
  for (uint32_t i = 0; i < view.rank; ++i) {
    if (taken[i]) continue;
    while (moved[next]) ++next;
    order[i] = next++;
  }
  permute_axes(view, order);
  return true;
}

bool unfold_view(Call& call, uint32_t number, Tensor& view) {
  uint32_t axis;
  int64_t size, step;
  if (!axis_at(call, number, view.rank, &axis) || !int_at(call, number + 1, &size)) return false;
  if (!int_at(call, number + 2, &step)) return false;
  const int64_t all = view.rank == 0 ? 1 : view.sizes[axis];
  if (size < 0 || size > all || step <= 0) {
    return call.context.fail("unfold() of %lld elements in windows of %lld, %lld apart", static_cast<long long>(all),
                             static_cast<long long>(size), static_cast<long long>(step));
  }
  if (view.rank == kMostAxes) return call.context.fail("a tensor has at most %u axes", kMostAxes);
  const int64_t stride = view.rank == 0 ? 1 : view.strides[axis];
  if (view.rank > 0) {
    view.sizes[axis] = 1 + (all - size) / step;
    if (view.sizes[axis] > 1) view.strides[axis] *= step;
  }
  view.sizes[view.rank] = size;
  view.strides[view.rank++] = stride;
  // Windows that overlap have more elements than there are in memory.
  int64_t numel = 1;
  for (uint32_t i = 0; i < view.rank; ++i) {
    const int64_t each = std::max<int64_t>(view.sizes[i], 1);
    if (each > std::numeric_limits<ptrdiff_t>::max() / 16 / numel) return call.context.fail("the sizes overflow");
    numel *= each;
  }
  return true;
}

bool diagonal_view(Call& call, uint32_t number, Tensor& view) {
  int64_t shift;
  uint32_t a, b;
  if (!int_at(call, number, &shift) || !axis_at(call, number + 1, view.rank, &a)) return false;
  if (!axis_at(call, number + 2, view.rank, &b)) return false;
  if (view.rank < 2 || a == b) return call.context.fail("a diagonal needs two different axes");
  if (shift <= -view.sizes[a] || shift >= view.sizes[b]) shift = 0, view.sizes[a] = 0;
  const int64_t rows = view.sizes[a] - std::max<int64_t>(-shift, 0),
                columns = view.sizes[b] - std::max<int64_t>(shift, 0);
  const int64_t size = std::max<int64_t>(std::min(rows, columns), 0);
  if (size > 0) view.offset += shift >= 0 ? shift * view.strides[b] : -shift * view.strides[a];
  const int64_t stride = view.strides[a] + view.strides[b];
  remove_axis(view, std::max(a, b));
  remove_axis(view, std::min(a, b));
  view.sizes[view.rank] = size;
  view.strides[view.rank++] = stride;
  return true;
}

bool narrow_axis(Call& call, uint32_t number, Tensor& view) {
  uint32_t axis;
  int64_t start, length;
  if (!need_axes(call, view) || !axis_at(call, number, view.rank, &axis)) return false;
  if (call.input(number + 1).is_tensor()) {
    const Tensor& at = call.input(number + 1).tensor();
    if (at.numel() != 1 || is_floating(at.dtype)) return call.context.fail("narrow() needs one whole number as start");
    start = load_int(at, at.offset);
  } else if (!int_at(call, number + 1, &start)) {
    return false;
  }
  if (!int_at(call, number + 2, &length)) return false;
  const int64_t size = view.sizes[axis];
  const bool in_range = start >= -size && start <= size && length >= 0 && length <= size;
  if (in_range && start < 0) start += size;
  if (!in_range || start > size - length) {
    return call.context.fail("narrow() from %lld, length %lld, of an axis of size %lld", static_cast<long long>(start),
                             static_cast<long long>(length), static_cast<long long>(size));
  }
  narrow_view(view, axis, start, length);
  return true;
}

bool same_view(Call&, uint32_t, Tensor&) {
  return true;
}

using ViewStep = bool (*)(Call&, uint32_t first, Tensor& view);

// The result is a view of the first argument; `kStep` reads the others.
bool run_viewing(Call& call, ViewStep step) {
  Tensor* view = view_of_first(call);
  if (view == nullptr) return false;
  call.outputs[0] = Value(view);
  return step(call, 1, *view);
}
template <ViewStep kStep>
bool viewing(Call& call) {
  return run_viewing(call, kStep);
}

// The argument itself is seen anew.
bool run_viewing_in_place(Call& call, ViewStep step) {
  Tensor* tensor;
  if (!tensor_at(call, 0, &tensor)) return false;
  if (tensor->head.pool == nullptr || !tensor->storage->is_writable) {
    return call.context.fail("the tensor is a constant or an input of the model: a program can't change it");
  }
  if (!step(call, 1, *tensor)) return false;
  return give_argument(call, 0);
}
template <ViewStep kStep>
bool viewing_in_place(Call& call) {
  return run_viewing_in_place(call, kStep);
}

template <ViewStep kStep>
bool viewing_copy(Call& call) {
  if (!viewing<kStep>(call)) return false;
  const Value view = call.outputs[0];
  Tensor* copy = make_tensor(call.context.pool, view.tensor().dtype, view.tensor().rank, view.tensor().sizes);
  if (copy != nullptr) copy_elements(view.tensor(), *copy);
  return give(call, 0, copy);
}

// A copy of the first argument, in whose view `kStep` the second one's elements are written.
bool run_scattering(Call& call, ViewStep step) {
  Tensor *tensor, *source;
  if (!tensor_at(call, 0, &tensor) || !tensor_at(call, 1, &source)) return false;
  Tensor* copy = make_tensor_like(call.context.pool, tensor->dtype, tensor->rank, tensor->sizes, *tensor);
  if (!give(call, 0, copy)) return false;
  copy_elements(*tensor, *copy);
  const Value view(make_view(call.context.pool, *copy));
  if (view.is_none()) return call.context.fail_memory();
  if (!step(call, 2, view.tensor()) || !need_same_sizes(call, view.tensor(), *source)) return false;
  copy_elements(*source, view.tensor());
  return true;
}
template <ViewStep kStep>
bool scattering(Call& call) {
  return run_scattering(call, kStep);
}

// Fills in the size that is -1.
bool infer_sizes(Call& call, int64_t numel, uint32_t rank, int64_t* sizes) {
  uint32_t open = rank;
  int64_t known = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    if (sizes[i] == -1 && open == rank) {
      open = i;
    } else if (sizes[i] < 0) {
      return call.context.fail("size %lld of the new shape", static_cast<long long>(sizes[i]));
    } else if (sizes[i] == 0 || known == 0) {
      known = 0;
    } else if (sizes[i] > std::numeric_limits<ptrdiff_t>::max() / 16 / known) {
      return call.context.fail("the sizes of the new shape overflow");
    } else {
      known *= sizes[i];
    }
  }
  if (open < rank) {
    if (known == 0) return call.context.fail("the size -1 could be anything beside a size of 0");
    sizes[open] = numel / known;
    known *= sizes[open];
  }
  if (known != numel) {
    return call.context.fail("%lld elements don't fit into a shape of %lld", static_cast<long long>(numel),
                             static_cast<long long>(known));
  }
  return true;
}

// The strides that see the tensor's memory in another shape of as many elements; false if there are none.
bool strides_for(const Tensor& tensor, uint32_t rank, const int64_t* sizes, int64_t* strides) {
  if (tensor.numel() == 0) {
    int64_t stride = 1;
    for (uint32_t i = rank; i-- > 0;) {
      strides[i] = stride;
      stride *= std::max<int64_t>(sizes[i], 1);
    }
    return true;
  }
  int64_t axis = static_cast<int64_t>(rank) - 1;
  int64_t base = tensor.rank > 0 ? tensor.strides[tensor.rank - 1] : 1;
  int64_t run = 1, viewed = 1;
  if (tensor.rank == 0) {
    std::fill(strides, strides + rank, 1);
    return true;
  }
  for (uint32_t i = tensor.rank; i-- > 0;) {
    run *= tensor.sizes[i];
    const bool is_end = i == 0 || (tensor.sizes[i - 1] != 1 && tensor.strides[i - 1] != run * base);
    if (!is_end) continue;
    while (axis >= 0 && (viewed < run || sizes[axis] == 1)) {
      strides[axis] = viewed * base;
      viewed *= sizes[axis];
      --axis;
    }
    if (viewed != run) return false;
    if (i > 0) {
      base = tensor.strides[i - 1];
      run = viewed = 1;
    }
  }
  return axis == -1;
}

// The elements in another shape: a view, or a copy if there is none and `may_copy`.
bool give_reshaped(Call& call, Tensor& tensor, uint32_t rank, const int64_t* sizes, bool may_copy) {
  Pool& pool = call.context.pool;
  int64_t strides[kMostAxes];
  if (strides_for(tensor, rank, sizes, strides)) {
    Tensor* view = make_view(pool, tensor);
    if (view == nullptr) return call.context.fail_memory();
    view->rank = rank;
    std::copy(sizes, sizes + rank, view->sizes);
    std::copy(strides, strides + rank, view->strides);
    return give(call, 0, view);
  }
  if (!may_copy) {
    return call.context.fail("view() can't see these sizes and strides in another shape: reshape() can");
  }
  Tensor* copy = make_tensor(pool, tensor.dtype, tensor.rank, tensor.sizes);
  if (copy == nullptr) return call.context.fail_memory();
  copy_elements(tensor, *copy);
  copy->rank = rank;
  int64_t stride = 1;
  for (uint32_t i = rank; i-- > 0;) {
    copy->sizes[i] = sizes[i];
    copy->strides[i] = stride;
    stride *= std::max<int64_t>(sizes[i], 1);
  }
  return give(call, 0, copy);
}

bool run_reshape(Call& call, bool may_copy) {
  Tensor* tensor;
  int64_t sizes[kMostAxes];
  uint32_t rank;
  if (!tensor_at(call, 0, &tensor) || !ints_at(call, 1, kMostAxes, sizes, &rank)) return false;
  return infer_sizes(call, tensor->numel(), rank, sizes) && give_reshaped(call, *tensor, rank, sizes, may_copy);
}
template <bool kMayCopy>
bool reshape(Call& call) {
  return run_reshape(call, kMayCopy);
}

bool run_reshape_as(Call& call, bool may_copy) {
  Tensor *tensor, *other;
  if (!tensor_at(call, 0, &tensor) || !tensor_at(call, 1, &other)) return false;
  int64_t sizes[kMostAxes];
  std::copy(other->sizes, other->sizes + other->rank, sizes);
  return infer_sizes(call, tensor->numel(), other->rank, sizes) &&
         give_reshaped(call, *tensor, other->rank, sizes, may_copy);
}
template <bool kMayCopy>
bool reshape_as(Call& call) {
  return run_reshape_as(call, kMayCopy);
}

bool view_dtype(Call& call) {
  Tensor* tensor;
  ScalarType dtype;
  if (!tensor_at(call, 0, &tensor) || !dtype_at(call, 1, tensor->dtype, &dtype)) return false;
  if (element_bytes(dtype) != element_bytes(tensor->dtype)) {
    return call.context.fail("view() of %s as %s", dtype_name(tensor->dtype), dtype_name(dtype));
  }
  Tensor* view = make_view(call.context.pool, *tensor);
  if (view != nullptr) view->dtype = dtype;
  return give(call, 0, view);
}

bool flatten(Call& call) {
  Tensor* tensor;
  uint32_t first = 0, last = 0;
  if (!tensor_at(call, 0, &tensor)) return false;
  if (call.input_count == 1) {
    last = tensor->rank == 0 ? 0 : tensor->rank - 1;
  } else if (!axis_at(call, 1, tensor->rank, &first) || !axis_at(call, 2, tensor->rank, &last)) {
    return false;
  }
  if (first > last) return call.context.fail("flatten() from axis %u to %u", first, last);
  if (tensor->rank > 0 && first == last && call.input_count != 1) return give_argument(call, 0);
  int64_t sizes[kMostAxes];
  uint32_t rank = 0;
  for (uint32_t i = 0; i < std::max(tensor->rank, 1U); ++i) {
    const int64_t size = tensor->rank == 0 ? 1 : tensor->sizes[i];
    if (i > first && i <= last) {
      sizes[rank - 1] *= size;
    } else {
      sizes[rank++] = size;
    }
  }
  return give_reshaped(call, *tensor, rank, sizes, true);
}

bool unflatten(Call& call) {
  Tensor* tensor;
  uint32_t axis, count;
  int64_t parts[kMostAxes], sizes[kMostAxes];
  if (!tensor_at(call, 0, &tensor) || !need_axes(call, *tensor) || !axis_at(call, 1, tensor->rank, &axis)) return false;
  if (!ints_at(call, 2, kMostAxes, parts, &count) || !infer_sizes(call, tensor->sizes[axis], count, parts))
    return false;
  if (count == 0 || tensor->rank - 1 + count > kMostAxes) return call.context.fail("unflatten() into %u axes", count);
  std::copy(tensor->sizes, tensor->sizes + axis, sizes);
  std::copy(parts, parts + count, sizes + axis);
  std::copy(tensor->sizes + axis + 1, tensor->sizes + tensor->rank, sizes + axis + count);
  return give_reshaped(call, *tensor, tensor->rank - 1 + count, sizes, false);
}

bool give_expanded(Call& call, const Tensor& tensor, uint32_t rank, int64_t* sizes) {
  if (rank < tensor.rank) return call.context.fail("expand() of %u axes to %u", tensor.rank, rank);
  for (uint32_t i = 0; i < rank; ++i) {
    const bool is_new = i < rank - tensor.rank;
    const int64_t size = is_new ? 1 : tensor.sizes[i - (rank - tensor.rank)];
    if (sizes[i] == -1 && !is_new) sizes[i] = size;
    if (sizes[i] < 0 || (size != 1 && size != sizes[i])) {
      return call.context.fail("expand() of size %lld to %lld at axis %u", static_cast<long long>(size),
                               static_cast<long long>(sizes[i]), i);
    }
  }
  return give(call, 0, make_expanded(call.context.pool, tensor, rank, sizes));
}

bool expand(Call& call) {
  Tensor* tensor;
  int64_t sizes[kMostAxes];
  uint32_t rank;
  if (!tensor_at(call, 0, &tensor) || !ints_at(call, 1, kMostAxes, sizes, &rank)) return false;
  return give_expanded(call, *tensor, rank, sizes);
}

bool expand_as(Call& call) {
  Tensor *tensor, *other;
  if (!tensor_at(call, 0, &tensor) || !tensor_at(call, 1, &other)) return false;
  int64_t sizes[kMostAxes];
  std::copy(other->sizes, other->sizes + other->rank, sizes);
  return give_expanded(call, *tensor, other->rank, sizes);
}

bool broadcast_tensors(Call& call) {
  const Sequence* list;
  if (!tensors_at(call, 0, false, &list)) return false;
  int64_t sizes[kMostAxes];
  uint32_t rank = 0;
  for (uint32_t i = 0; i < list->count; ++i) {
    if (!broadcast(call, list->values[i].tensor(), &rank, sizes)) return false;
  }
  Sequence* result = make_sequence(call.context.pool, Tag::kList, list->count);
  if (result == nullptr) return call.context.fail_memory();
  call.outputs[0] = Value(result);
  for (uint32_t i = 0; i < list->count; ++i) {
    result->values[i] = Value(make_expanded(call.context.pool, list->values[i].tensor(), rank, sizes));
    if (result->values[i].is_none()) return call.context.fail_memory();
  }
  return true;
}

bool as_strided(Call& call) {
  Tensor* tensor;
  int64_t sizes[kMostAxes], strides[kMostAxes], offset;
  uint32_t rank, count;
  if (!tensor_at(call, 0, &tensor) || !ints_at(call, 1, kMostAxes, sizes, &rank)) return false;
  if (!ints_at(call, 2, kMostAxes, strides, &count)) return false;
  if (call.input_count < 4) {
    offset = tensor->offset;
  } else if (!optional_int_at(call, 3, tensor->offset, &offset)) {
    return false;
  }
  const auto all = static_cast<int64_t>(tensor->storage->bytes / element_bytes(tensor->dtype));
  bool fits = rank == count && offset >= 0 && offset <= all, is_empty = false;
  int64_t last = offset, numel = 1;
  for (uint32_t i = 0; fits && i < rank; ++i) {
    fits = sizes[i] >= 0 && strides[i] >= 0;
    is_empty = is_empty || sizes[i] == 0;
    if (fits && sizes[i] > 1) {
      fits = numel <= std::numeric_limits<ptrdiff_t>::max() / 16 / sizes[i] &&
             (strides[i] == 0 || sizes[i] - 1 <= all / strides[i]);
      if (fits) numel *= sizes[i];
      if (fits) last += (sizes[i] - 1) * strides[i];
      fits = fits && last <= all;
    }
  }
  if (!fits || (!is_empty && last >= all)) {
    return call.context.fail("as_strided() of elements outside of the %lld in memory", static_cast<long long>(all));
  }
  Tensor* view = make_view(call.context.pool, *tensor);
  if (view == nullptr) return call.context.fail_memory();
  view->rank = rank;
  view->offset = offset;
  std::copy(sizes, sizes + rank, view->sizes);
  std::copy(strides, strides + rank, view->strides);
  return give(call, 0, view);
}

constexpr int64_t kMostEmptyParts = 1 << 16;

// Adds a part of the axis to the list that is the output.
bool add_part(Call& call, const Tensor& tensor, uint32_t axis, int64_t start, int64_t length, bool keeps_axis) {
  Tensor* view = make_view(call.context.pool, tensor);
  if (view == nullptr) return call.context.fail_memory();
  narrow_view(*view, axis, start, length);
  if (!keeps_axis) remove_axis(*view, axis);
  return append(call.outputs[0].sequence(), Value(view)) || call.context.fail_memory();
}

bool start_parts(Call& call, uint32_t axis_number, Tensor** tensor, uint32_t* axis) {
  if (!tensor_at(call, 0, tensor) || !need_axes(call, **tensor)) return false;
  if (!axis_at(call, axis_number, (*tensor)->rank, axis)) return false;
  Sequence* list = make_sequence(call.context.pool, Tag::kList, 0);
  if (list == nullptr) return call.context.fail_memory();
  call.outputs[0] = Value(list);
  return true;
}

bool unbind(Call& call) {
  Tensor* tensor;
  uint32_t axis;
  if (!start_parts(call, 1, &tensor, &axis)) return false;
  for (int64_t i = 0; i < tensor->sizes[axis]; ++i) {
    if (!add_part(call, *tensor, axis, i, 1, false)) return false;
  }
  return true;
}

bool parts_of_size(Call& call, const Tensor& tensor, uint32_t axis, int64_t each) {
  const int64_t size = tensor.sizes[axis];
  if (each < 0 || (each == 0 && size != 0)) {
    return call.context.fail("parts of size %lld", static_cast<long long>(each));
  }
  int64_t start = 0;
  do {
    const int64_t length = std::min(each, size - start);
    if (!add_part(call, tensor, axis, start, length, true)) return false;
    start += length;
  } while (start < size);
  return true;
}

bool split_sizes(Call& call) {
  Tensor* tensor;
  uint32_t axis;
  if (!start_parts(call, 2, &tensor, &axis)) return false;
  const Value& lengths = call.input(1);
  if (lengths.tag() == Tag::kInt) return parts_of_size(call, *tensor, axis, lengths.as_int());
  if (lengths.tag() != Tag::kList && lengths.tag() != Tag::kTuple) {
    return call.context.fail("the sizes of parts need a list of ints");
  }
  const int64_t size = tensor->sizes[axis];
  int64_t start = 0;
  for (uint32_t i = 0; i < lengths.sequence().count; ++i) {
    const Value& value = lengths.sequence().values[i];
    if (value.tag() != Tag::kInt || value.as_int() < 0 || value.as_int() > size - start) {
      return call.context.fail("the sizes of parts don't fit into %lld elements", static_cast<long long>(size));
    }
    if (!add_part(call, *tensor, axis, start, value.as_int(), true)) return false;
    start += value.as_int();
  }
  return start == size || call.context.fail("the sizes of parts sum up to %lld, needs %lld",
                                            static_cast<long long>(start), static_cast<long long>(size));
}

bool chunk(Call& call) {
  Tensor* tensor;
  uint32_t axis;
  int64_t chunks;
  if (!start_parts(call, 2, &tensor, &axis) || !int_at(call, 1, &chunks)) return false;
  if (chunks <= 0) return call.context.fail("chunk() into %lld parts", static_cast<long long>(chunks));
  const int64_t size = tensor->sizes[axis];
  if (size == 0) {
    if (chunks > kMostEmptyParts) return call.context.fail("chunk() into %lld parts", static_cast<long long>(chunks));
    for (int64_t i = 0; i < chunks; ++i) {
      if (!add_part(call, *tensor, axis, 0, 0, true)) return false;
    }
    return true;
  }
  return parts_of_size(call, *tensor, axis, 1 + (size - 1) / chunks);
}

bool tensor_split(Call& call) {
  Tensor* tensor;
  uint32_t axis;
  if (!start_parts(call, 2, &tensor, &axis)) return false;
  const Value& argument = call.input(1);
  const int64_t size = tensor->sizes[axis];
  if (argument.tag() == Tag::kInt) {
    const int64_t parts = argument.as_int();
    if (parts <= 0 || parts - size > kMostEmptyParts)
      return call.context.fail("tensor_split() into %lld parts", static_cast<long long>(parts));
    int64_t start = 0;
    for (int64_t i = 0; i < parts; ++i) {
      const int64_t length = size / parts + (i < size % parts ? 1 : 0);
      if (!add_part(call, *tensor, axis, start, length, true)) return false;
      start += length;
    }
    return true;
  }
  if (argument.tag() != Tag::kList) return call.context.fail("tensor_split() needs an int or a list of ints");
  const Sequence& places = argument.sequence();
  int64_t start = 0;
  for (uint32_t i = 0; i <= places.count; ++i) {
    int64_t end = size;
    if (i < places.count) {
      if (places.values[i].tag() != Tag::kInt) return call.context.fail("tensor_split() needs ints");
      end = clamped(places.values[i].as_int(), size);
    }
    if (!add_part(call, *tensor, axis, start, std::max<int64_t>(end - start, 0), true)) return false;
    start = end;
  }
  return true;
}

bool size_list(Call& call, const int64_t* values, uint32_t count) {
  Sequence* list = make_sequence(call.context.pool, Tag::kList, count);
  if (list == nullptr) return call.context.fail_memory();
  for (uint32_t i = 0; i < count; ++i) list->values[i] = Value(values[i]);
  call.outputs[0] = Value(list);
  return true;
}

enum class Question {
  kSizes,
  kSize,
  kStrides,
  kStride,
  kNumel,
  kRank,
  kLength,
  kIsFloating,
  kIsContiguous,
  kOffset,
  kDtype,
  kDevice,
  kElementSize,
  kFalse,
  kZero
};

bool run_asked(Call& call, Question question) {
  Tensor* tensor;
  if (!tensor_at(call, 0, &tensor)) return false;
  Value& answer = call.outputs[0];
  uint32_t axis;
  switch (question) {
    case Question::kSizes:
      return size_list(call, tensor->sizes, tensor->rank);
    case Question::kStrides:
      return size_list(call, tensor->strides, tensor->rank);
    case Question::kSize:
    case Question::kStride:
      if (!need_axes(call, *tensor) || !axis_at(call, 1, tensor->rank, &axis)) return false;
      answer = Value(question == Question::kSize ? tensor->sizes[axis] : tensor->strides[axis]);
      return true;
    case Question::kNumel:
      answer = Value(tensor->numel());
      return true;
    case Question::kRank:
      answer = Value(static_cast<int64_t>(tensor->rank));
      return true;
    case Question::kLength:
      if (!need_axes(call, *tensor)) return false;
      answer = Value(tensor->sizes[0]);
      return true;
    case Question::kIsFloating:
      answer = Value(is_floating(tensor->dtype));
      return true;
    case Question::kIsContiguous: {
      int64_t format = 0;
      if (call.input_count > 1 && !int_at(call, 1, &format)) return false;
      answer = Value(format == 2 ? tensor->is_contiguous_channels_last() : tensor->is_contiguous());
      return true;
    }
    case Question::kOffset:
      answer = Value(tensor->offset);
      return true;
    case Question::kDtype:
      answer = Value(static_cast<int64_t>(tensor->dtype));
      return true;
    case Question::kDevice:
      answer = Value::device();
      return true;
    case Question::kElementSize:
      answer = Value(static_cast<int64_t>(element_bytes(tensor->dtype)));
      return true;
    case Question::kFalse:
      answer = Value(false);
      return true;
    case Question::kZero:
      answer = Value(int64_t{0});
      return true;
  }
  return true;
}
template <Question kQuestion>
bool asked(Call& call) {
  return run_asked(call, kQuestion);
}

const OperatorRow kRows[] = {
    {"aten::T", 1, 1, viewing<reversed_view>},
    {"aten::_reshape_alias", 3, 1, as_strided},
    {"aten::alias", 1, 1, viewing<same_view>},
    {"aten::as_strided", 4, 1, as_strided},
    {"aten::broadcast_tensors", 1, 1, broadcast_tensors},
    {"aten::broadcast_to", 2, 1, expand},
    {"aten::chunk", 3, 1, chunk},
    {"aten::data", 1, 1, viewing<same_view>},
    {"aten::detach", 1, 1, viewing<same_view>},
    {"aten::diagonal", 4, 1, viewing<diagonal_view>},
    {"aten::dim", 1, 1, asked<Question::kRank>},
    {"aten::element_size", 1, 1, asked<Question::kElementSize>},
    {"aten::expand", 3, 1, expand},
    {"aten::expand_as", 2, 1, expand_as},
    {"aten::flatten.using_ints", 3, 1, flatten},
    {"aten::is_complex", 1, 1, asked<Question::kFalse>},
    {"aten::is_contiguous", 1, 1, asked<Question::kIsContiguous>},
    {"aten::is_contiguous.memory_format", 2, 1, asked<Question::kIsContiguous>},
    {"aten::is_floating_point", 1, 1, asked<Question::kIsFloating>},
    {"aten::len.Tensor", 1, 1, asked<Question::kLength>},
    {"aten::mH.,a", 1, 1, viewing<last_two_view>},
    {"aten::mT.,a", 1, 1, viewing<last_two_view>},
    {"aten::moveaxis.int,intlist", 3, 1, viewing<movedim_view>},
    {"aten::movedim.int,intlist", 3, 1, viewing<movedim_view>},
    {"aten::narrow.,Tensor", 4, 1, viewing<narrow_axis>},
    {"aten::narrow_copy", 4, 1, viewing_copy<narrow_axis>},
    {"aten::numel", 1, 1, asked<Question::kNumel>},
    {"aten::numpy_T.,a", 1, 1, viewing<reversed_view>},
    {"aten::permute", 2, 1, viewing<permute_view>},
    {"aten::permute_copy", 2, 1, viewing_copy<permute_view>},
    {"aten::ravel", 1, 1, flatten},
    {"aten::reshape", 2, 1, reshape<true>},
    {"aten::reshape_as", 2, 1, reshape_as<true>},
    {"aten::select.int", 3, 1, viewing<select_view>},
    {"aten::select_scatter", 4, 1, scattering<select_view>},
    {"aten::size", 1, 1, asked<Question::kSizes>},
    {"aten::size.int", 2, 1, asked<Question::kSize>},
    {"aten::slice.Tensor", 5, 1, viewing<slice_view>},
    {"aten::slice_scatter", 6, 1, scattering<slice_view>},
    {"aten::split.,Tensor,sizes", 3, 1, split_sizes},
    {"aten::split_with_sizes", 3, 1, split_sizes},
    {"aten::squeeze", 1, 1, viewing<squeeze_view>},
    {"aten::squeeze.dim", 2, 1, viewing<squeeze_view>},
    {"aten::squeeze_", 1, 1, viewing_in_place<squeeze_view>},
    {"aten::squeeze_.dim", 2, 1, viewing_in_place<squeeze_view>},
    {"aten::storage_offset", 1, 1, asked<Question::kOffset>},
    {"aten::stride", 1, 1, asked<Question::kStrides>},
    {"aten::stride.int", 2, 1, asked<Question::kStride>},
    {"aten::swapaxes", 3, 1, viewing<transpose_view>},
    {"aten::swapdims", 3, 1, viewing<transpose_view>},
    {"aten::t", 1, 1, viewing<t_view>},
    {"aten::t_", 1, 1, viewing_in_place<t_view>},
    {"aten::tensor_split.indices", 3, 1, tensor_split},
    {"aten::tensor_split.sections", 3, 1, tensor_split},
    {"aten::transpose.int", 3, 1, viewing<transpose_view>},
    {"aten::transpose_", 3, 1, viewing_in_place<transpose_view>},
    {"aten::unbind.int", 2, 1, unbind},
    {"aten::unflatten.int", 3, 1, unflatten},
    {"aten::unfold", 4, 1, viewing<unfold_view>},
    {"aten::unsqueeze", 2, 1, viewing<unsqueeze_view>},
    {"aten::unsqueeze_", 2, 1, viewing_in_place<unsqueeze_view>},
    {"aten::view", 2, 1, reshape<false>},
    {"aten::view.dtype", 2, 1, view_dtype},
    {"aten::view_as", 2, 1, reshape_as<false>},
    {"prim::data", 1, 1, viewing<same_view>},
    {"prim::device", 1, 1, asked<Question::kDevice>},
    {"prim::dtype", 1, 1, asked<Question::kDtype>},
    {"prim::is_cuda", 1, 1, asked<Question::kFalse>},
    {"prim::is_quantized", 1, 1, asked<Question::kFalse>},
    {"prim::layout", 1, 1, asked<Question::kZero>},
    {"prim::requires_grad", 1, 1, asked<Question::kFalse>},
    {"prim::shape", 1, 1, asked<Question::kSizes>},
};

}  // namespace

const OperatorTable view_operators = {kRows, std::size(kRows)};

}  // namespace nnapi_shim::program
