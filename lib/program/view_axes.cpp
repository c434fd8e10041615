// SPDX-License-Identifier: BSD-3-Clause
#include "lib/program/view_axes.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace nnapi_shim::program {

bool need_axes(Call& call, const Tensor& tensor) {
  return tensor.rank > 0 || call.context.fail("the tensor has no axes");
}

void add_missing_axis(Tensor& view) {
  if (view.rank > 0) return;
  view.rank = 1;
  view.sizes[0] = view.strides[0] = 1;
}

void remove_axis(Tensor& view, uint32_t axis) {
  std::copy(view.sizes + axis + 1, view.sizes + view.rank, view.sizes + axis);
  std::copy(view.strides + axis + 1, view.strides + view.rank, view.strides + axis);
  --view.rank;
}

void swap_axes(Tensor& view, uint32_t a, uint32_t b) {
  std::swap(view.sizes[a], view.sizes[b]);
  std::swap(view.strides[a], view.strides[b]);
}

void narrow_view(Tensor& view, uint32_t axis, int64_t start, int64_t length) {
  if (length > 0) view.offset += start * view.strides[axis];
  view.sizes[axis] = length;
}

int64_t clamped_bound(int64_t bound, int64_t size) {
  if (bound < 0) bound += size;
  return std::min(std::max<int64_t>(bound, 0), size);
}

}  // namespace nnapi_shim::program
