// SPDX-License-Identifier: BSD-3-Clause
// Changes to views.
#pragma once

#include <cstdint>

#include "lib/program/operators.h"

namespace nnapi_shim::program {

bool need_axes(Call& call, const Tensor& tensor);  // at least one

void add_missing_axis(Tensor& view);  // adds an axis of size 1 if there is none
void remove_axis(Tensor& view, uint32_t axis);
void swap_axes(Tensor& view, uint32_t a, uint32_t b);
// Leaves `length` elements of the axis from `start`, which are in range.
void narrow_view(Tensor& view, uint32_t axis, int64_t start, int64_t length);

// Returns a slice's bound in 0 to `size`; one below 0 counts from the end.
int64_t clamped_bound(int64_t bound, int64_t size);

}  // namespace nnapi_shim::program
