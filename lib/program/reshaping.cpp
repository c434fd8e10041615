// SPDX-License-Identifier: BSD-3-Clause
// Operators that see the elements of a tensor in another shape.
#include <algorithm>
#include <limits>

#include "lib/program/arguments.h"
#include "lib/program/operator_table.h"
#include "lib/program/view_axes.h"

namespace nnapi_shim::program {

namespace {

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

// Returns strides with which the tensor's memory has another shape of as many elements; false if there are none.
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

// Gives the elements in another shape: as a view, or as a copy if no view can have it and `may_copy` is true.
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
  Tensor* copy = row_major_copy(pool, tensor, tensor.dtype);
  if (copy == nullptr) return call.context.fail_memory();
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

constexpr OperatorRow kRows[] = {
    {"aten::_reshape_alias", 3, 1, as_strided},
    {"aten::as_strided", 4, 1, as_strided},
    {"aten::broadcast_tensors", 1, 1, broadcast_tensors},
    {"aten::broadcast_to", 2, 1, expand},
    {"aten::expand", 3, 1, expand},
    {"aten::expand_as", 2, 1, expand_as},
    {"aten::flatten.using_ints", 3, 1, flatten},
    {"aten::ravel", 1, 1, flatten},
    {"aten::reshape", 2, 1, reshape<true>},
    {"aten::reshape_as", 2, 1, reshape_as<true>},
    {"aten::unflatten.int", 3, 1, unflatten},
    {"aten::view", 2, 1, reshape<false>},
    {"aten::view.dtype", 2, 1, view_dtype},
    {"aten::view_as", 2, 1, reshape_as<false>},
};

}  // namespace

const OperatorTable reshaping_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
