// SPDX-License-Identifier: BSD-3-Clause
// Operators whose result is a view of their argument's elements along other axes.
#include <algorithm>
#include <limits>

#include "lib/program/arguments.h"
#include "lib/program/operator_table.h"
#include "lib/program/view_axes.h"

namespace nnapi_shim::program {

namespace {

// Returns a new view of the first argument; null after failing.
Tensor* view_of_first(Call& call) {
  Tensor* tensor;
  if (!tensor_at(call, 0, &tensor)) return nullptr;
  Tensor* view = make_view(call.context.pool, *tensor);
  if (view == nullptr) call.context.fail_memory();
  return view;
}

// Slices the view as arguments `first` to `first` + 3 (axis, start, end, step) say.
bool slice_view(Call& call, uint32_t first, Tensor& view) {
  uint32_t axis;
  int64_t start, end, step;
  if (!need_axes(call, view) || !axis_at(call, first, view.rank, &axis)) return false;
  if (!optional_int_at(call, first + 1, 0, &start) || !int_at(call, first + 3, &step)) return false;
  if (!optional_int_at(call, first + 2, std::numeric_limits<int64_t>::max(), &end)) return false;
  if (step <= 0) return call.context.fail("the step of a slice is %lld, needs 1 or more", static_cast<long long>(step));
  start = clamped_bound(start, view.sizes[axis]);
  end = std::max(start, clamped_bound(end, view.sizes[axis]));
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
  swap_axes(view, a, b);
  return true;
}

bool t_view(Call& call, uint32_t, Tensor& view) {
  if (view.rank > 2) return call.context.fail("t() needs at most 2 axes, found %u", view.rank);
  if (view.rank == 2) swap_axes(view, 0, 1);
  return true;
}

bool last_two_view(Call& call, uint32_t, Tensor& view) {
  if (view.rank == 0) return true;
  if (view.rank < 2) return call.context.fail("needs at least 2 axes, found %u", view.rank);
  swap_axes(view, view.rank - 1, view.rank - 2);
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
  // A view with overlapping windows has more elements than its memory.
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

// Makes a view of the first argument the result; `step` reads the other arguments and changes the view.
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

// Changes the sizes and strides of the first argument itself.
bool run_viewing_in_place(Call& call, ViewStep step) {
  Tensor* tensor;
  if (!tensor_at(call, 0, &tensor)) return false;
  if (!need_own(call, *tensor) || !step(call, 1, *tensor)) return false;
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
  return give(call, 0, row_major_copy(call.context.pool, view.tensor(), view.tensor().dtype));
}

// Gives a copy of the first argument, with the second argument's elements written to the view of it that `step` makes.
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

constexpr OperatorRow kRows[] = {
    {"aten::T", 1, 1, viewing<reversed_view>},
    {"aten::alias", 1, 1, viewing<same_view>},
    {"aten::data", 1, 1, viewing<same_view>},
    {"aten::detach", 1, 1, viewing<same_view>},
    {"aten::diagonal", 4, 1, viewing<diagonal_view>},
    {"aten::mH.,a", 1, 1, viewing<last_two_view>},
    {"aten::mT.,a", 1, 1, viewing<last_two_view>},
    {"aten::moveaxis.int,intlist", 3, 1, viewing<movedim_view>},
    {"aten::movedim.int,intlist", 3, 1, viewing<movedim_view>},
    {"aten::narrow.,Tensor", 4, 1, viewing<narrow_axis>},
    {"aten::narrow_copy", 4, 1, viewing_copy<narrow_axis>},
    {"aten::numpy_T.,a", 1, 1, viewing<reversed_view>},
    {"aten::permute", 2, 1, viewing<permute_view>},
    {"aten::permute_copy", 2, 1, viewing_copy<permute_view>},
    {"aten::select.int", 3, 1, viewing<select_view>},
    {"aten::select_scatter", 4, 1, scattering<select_view>},
    {"aten::slice.Tensor", 5, 1, viewing<slice_view>},
    {"aten::slice_scatter", 6, 1, scattering<slice_view>},
    {"aten::squeeze", 1, 1, viewing<squeeze_view>},
    {"aten::squeeze.dim", 2, 1, viewing<squeeze_view>},
    {"aten::squeeze_", 1, 1, viewing_in_place<squeeze_view>},
    {"aten::squeeze_.dim", 2, 1, viewing_in_place<squeeze_view>},
    {"aten::swapaxes", 3, 1, viewing<transpose_view>},
    {"aten::swapdims", 3, 1, viewing<transpose_view>},
    {"aten::t", 1, 1, viewing<t_view>},
    {"aten::t_", 1, 1, viewing_in_place<t_view>},
    {"aten::transpose.int", 3, 1, viewing<transpose_view>},
    {"aten::transpose_", 3, 1, viewing_in_place<transpose_view>},
    {"aten::unfold", 4, 1, viewing<unfold_view>},
    {"aten::unsqueeze", 2, 1, viewing<unsqueeze_view>},
    {"aten::unsqueeze_", 2, 1, viewing_in_place<unsqueeze_view>},
    {"prim::data", 1, 1, viewing<same_view>},
};

}  // namespace

const OperatorTable view_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
