// SPDX-License-Identifier: BSD-3-Clause
// Compares the values that a device computed for a tensor with the expected ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/shim/model_view.h"

namespace nnapi_doctor {

constexpr size_t kNamedChannels = 8;

// The result of a comparison. Differences and range are in the unit of the elements, for quantised types in steps of
// the scale. A channel is an index of one axis.
struct Comparison {
  double worst = 0, mean = 0;  // the worst and the mean amount of the differences
  double range = 0;            // the largest amount of the expected elements
  double worst_share = 0;      // the worst difference as a share of the tolerance: more than 1 is wrong
  uint64_t elements = 0, wrong_elements = 0, not_a_number = 0;
  uint32_t channels = 0, wrong_channels = 0;
  uint32_t first_wrong[kNamedChannels] = {};  // the first wrong channels
  bool is_quantised = false;
  bool is_wrong = false;
};

// The differences that are allowed. For floats: of one element, as a share of the range, and of a channel, as a share
// of its own root mean square. For quantised types, in steps: of one element, of a channel's mean, and of the root mean
// square of all.
struct Tolerance {
  double range_share = 1e-3, channel_share = 1e-2;
  double steps = 2, mean_steps = 0.75, all_steps = 1;
  // For floats that are computed from quantised tensors, and may differ by these steps: the size of a step. 0: other
  // floats.
  double step = 0;
};
// The value of Tolerance::step if the scale is not known: a step is then a part of the tensor's own range.
constexpr double kStepOfRange = -1;
// Returns the tolerance for the results of `count` operations in a row, on a device that computes in half or in single
// precision. The steps are those by which a file's samples judge (docs/shim.md).
Tolerance tolerance_of(size_t count, bool is_half);

// Returns whether elements of the type have a scale.
bool is_quantised(int32_t type);

// The type and sizes of a tensor, and the axis of its channels: 1 if the operation's layout is NCHW, otherwise the last
// one.
struct TensorForm {
  int32_t type = 0;
  std::vector<uint32_t> dims;
  size_t channel_axis = 0;
};

// Compares all elements of the form in `expected` and `found`. Types that are not numbers are compared by bytes.
Comparison compare(const TensorForm& form, const void* expected, const void* found, const Tolerance& tolerance);

// Returns whether half precision explains the difference between `expected` and `found`: whether it is within a
// multiple of the difference between `expected` and `rounded`, which the reference computes from rounded inputs and
// weights, and of the rounding of the results themselves. `terms` is the number of products that are added up for an
// element; 1 for none.
bool is_half_precision(const TensorForm& form, const void* expected, const void* found, const void* rounded,
                       size_t terms);

// Returns an element as floating point; NaN for types without numbers.
double element(int32_t type, const void* data, size_t number);

}  // namespace nnapi_doctor
