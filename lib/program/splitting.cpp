// SPDX-License-Identifier: BSD-3-Clause
// Operators that cut an axis of a tensor into parts, which are views.
#include <algorithm>

#include "lib/program/arguments.h"
#include "lib/program/operator_table.h"
#include "lib/program/view_axes.h"

namespace nnapi_shim::program {

namespace {

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
      end = clamped_bound(places.values[i].as_int(), size);
    }
    if (!add_part(call, *tensor, axis, start, std::max<int64_t>(end - start, 0), true)) return false;
    start = end;
  }
  return true;
}

constexpr OperatorRow kRows[] = {
    {"aten::chunk", 3, 1, chunk},
    {"aten::split.,Tensor,sizes", 3, 1, split_sizes},
    {"aten::split_with_sizes", 3, 1, split_sizes},
    {"aten::tensor_split.indices", 3, 1, tensor_split},
    {"aten::tensor_split.sections", 3, 1, tensor_split},
    {"aten::unbind.int", 2, 1, unbind},
};

}  // namespace

const OperatorTable splitting_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
