// SPDX-License-Identifier: BSD-3-Clause
// Operators that write elements at places that a tensor of indices or a mask names.
#include <algorithm>
#include <cstring>

#include "lib/program/arguments.h"
#include "lib/program/indices.h"
#include "lib/program/operator_table.h"
#include "lib/program/view_axes.h"

namespace nnapi_shim::program {

namespace {

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
  return move_masked(*target, b.tensor(), list.tensor(), false, source->numel()) ||
         call.context.fail("masked_scatter() has more places than the source has elements");
}
template <bool kInPlace>
bool masked_scatter(Call& call) {
  return run_masked_scatter(call, kInPlace);
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

// Writes elements of the same dtype to the index's places. `source` is row-major, of the index's sizes. If the index is
// constant along the last axes, such as an expanded one of rows, these axes are written as whole blocks.
bool write_along(Call& call, const Tensor& target, uint32_t axis, const Tensor& index, const Tensor& source) {
  Tensor rows = index;
  int64_t length = 1;
  for (uint32_t i = rows.rank; i-- > axis + 1;) {
    if (rows.sizes[i] != 1 && (rows.strides[i] != 0 || target.strides[i] != length)) break;
    length *= rows.sizes[i];
    rows.sizes[i] = 1;
  }
  const size_t bytes = element_bytes(target.dtype), row_bytes = static_cast<size_t>(length) * bytes;
  uint8_t* to = target.storage->data;
  const uint8_t* from = source.bytes();
  return visit_places(call, target, axis, rows, [=](int64_t offset, int64_t number) {
    uint8_t* place = to + offset * static_cast<int64_t>(bytes);
    const uint8_t* row = from + static_cast<size_t>(number) * row_bytes;
    if (length == 1) {
      copy_element(bytes, row, place);
    } else {
      std::memcpy(place, row, row_bytes);
    }
  });
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
    view = Value(row_major_copy(call.context.pool, source.tensor(), target->dtype));
    if (view.is_none()) return call.context.fail_memory();
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
  if (combine == Combine::kWrite) {
    const Value rows(contiguous(call.context.pool, view.tensor()));
    return rows.is_none() ? call.context.fail_memory() : write_along(call, *target, axis, *index, rows.tensor());
  }
  Cursor cursor;
  cursor.start(view.tensor());
  const bool real = is_floating(target->dtype);
  const Tensor& to = *target;
  return visit_places(call, *target, axis, *index, [&cursor, &to, real, combine](int64_t offset, int64_t) {
    if (real) {
      double value;
      cursor.read(1, Compute::kDouble, &value);
      store_double(to, offset, combined(combine, load_double(to, offset), value));
    } else {
      uint64_t value;
      cursor.read(1, Compute::kInt, &value);
      const auto old = static_cast<uint64_t>(load_int(to, offset));
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

// Runs index_copy, index_add and index_fill: writes slices of the axis at the index's places.
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
  add_missing_axis(shaped);
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
    add_missing_axis(from);
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
  IndexReader indices(*index);
  for (int64_t i = 0; i < count; ++i, from.offset += from_stride) {
    int64_t number = indices.next();
    if (write == SliceWrite::kFill ? !wrap_index(call, size, &number) : !need_in_range(call, size, number))
      return false;
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

constexpr OperatorRow kRows[] = {
    {"aten::index_add", 5, 1, write_slices<SliceWrite::kAdd, false>},
    {"aten::index_add_", 5, 1, write_slices<SliceWrite::kAdd, true>},
    {"aten::index_copy", 4, 1, write_slices<SliceWrite::kCopy, false>},
    {"aten::index_copy_", 4, 1, write_slices<SliceWrite::kCopy, true>},
    {"aten::index_fill.int_Scalar,int_Tensor", 4, 1, write_slices<SliceWrite::kFill, false>},
    {"aten::index_fill_.int_Scalar,int_Tensor", 4, 1, write_slices<SliceWrite::kFill, true>},
    {"aten::masked_scatter", 3, 1, masked_scatter<false>},
    {"aten::masked_scatter_", 3, 1, masked_scatter<true>},
    {"aten::scatter.reduce,value_reduce", 5, 1, scatter_named<false>},
    {"aten::scatter.src,value", 4, 1, scatter<false, Combine::kWrite>},
    {"aten::scatter_.reduce,value_reduce", 5, 1, scatter_named<true>},
    {"aten::scatter_.src,value", 4, 1, scatter<true, Combine::kWrite>},
    {"aten::scatter_add", 4, 1, scatter<false, Combine::kAdd>},
    {"aten::scatter_add_", 4, 1, scatter<true, Combine::kAdd>},
    {"aten::scatter_reduce.two", 6, 1, scatter_reduce<false>},
    {"aten::scatter_reduce_.two", 6, 1, scatter_reduce<true>},
};

}  // namespace

const OperatorTable scattering_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
