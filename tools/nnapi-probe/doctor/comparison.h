// SPDX-License-Identifier: BSD-3-Clause
// Compares what a device gave for a tensor with what it should have given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/shim/model_view.h"

namespace nnapi_doctor {

constexpr size_t kNamedChannels = 8;

// All but counts in the unit of the elements: of quantised types, steps of the scale. A channel is an index of one
// axis.
struct Comparison {
  double worst = 0, mean = 0;  // of the differences' amounts
  double range = 0;            // the largest amount of the expected elements
  double worst_share = 0;      // the worst difference by what may be: more than 1 is wrong
  uint64_t elements = 0, wrong_elements = 0, not_a_number = 0;
  uint32_t channels = 0, wrong_channels = 0;
  uint32_t first_wrong[kNamedChannels] = {};  // the first wrong channels
  bool is_quantised = false;
  bool is_wrong = false;
};

// What may differ: float's share of the range, of one element, and of a channel's own root mean square; quantised
// types' steps of one element, of the mean of a channel, and of the root mean square of all.
struct Tolerance {
  double range_share = 1e-3, channel_share = 1e-2;
  double steps = 2, mean_steps = 0.75, all_steps = 1;
  // Of floats that are computed from quantised tensors, which may differ by these steps: what a step is. 0: of others.
  double step = 0;
};
// A step where the scale is not known: a part of the tensor's own range.
constexpr double kStepOfRange = -1;
// For the results of `count` operations in a row, of a device that computes in half precision or in single. The steps
// are those by which a file's samples judge (docs/shim.md).
Tolerance tolerance_of(size_t count, bool is_half);

// Whether elements of the type have a scale.
bool is_quantised(int32_t type);

// The axis of the channels: 1 where the operation's layout is NCHW, else the last one.
struct TensorForm {
  int32_t type = 0;
  std::vector<uint32_t> dims;
  size_t channel_axis = 0;
};

// `expected` and `found` have all elements of the form. Types without a comparison (not numbers) are compared by bytes.
Comparison compare(const TensorForm& form, const void* expected, const void* found, const Tolerance& tolerance);

// Returns whether half precision explains the difference: whether that between `expected` and `found` is within a
// multiple of that between `expected` and `rounded`, which the reference computes of rounded inputs and weights, and of
// the rounding of the results themselves. `terms` is the number of products that are added up for an element; 1 for
// none.
bool is_half_precision(const TensorForm& form, const void* expected, const void* found, const void* rounded,
                       size_t terms);

// The number of an element as floating point; NaN for types without numbers.
double element(int32_t type, const void* data, size_t number);

}  // namespace nnapi_doctor
