// SPDX-License-Identifier: BSD-3-Clause
// Weights of quantised programs: integers that are constants, as quantised tensors or as the numbers they stand for.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace nnapi_convert {

// The way in which integers stand for numbers: (integer - zero point) * scale, with one scale or with one for each
// channel of an axis.
struct Rounding {
  at::Tensor scales;       // float64, of one element without an axis
  at::Tensor zero_points;  // int64, as many
  std::optional<int64_t> axis = {};
  int64_t min = 0;
  int64_t max = 0;
  c10::ScalarType dtype = c10::kChar;
};

// True if there are as many scales as `tensor` has channels, each above zero and finite.
bool fits(const Rounding& rounding, const at::Tensor& tensor);

// Returns `numbers` as integers, as the program rounds them.
at::Tensor rounded(const at::Tensor& numbers, const Rounding& rounding);

// Returns the numbers that `integers` stand for: a quantised tensor (qint8) where they have 8 bits, and all zero points
// are 0 or there is one scale; a float tensor otherwise.
at::Tensor weight_of(const at::Tensor& integers, const Rounding& rounding);

// Returns the numbers that `integers` stand for in groups of `size` along the last axis, each with its scale.
at::Tensor weight_of_groups(const at::Tensor& integers, const Rounding& rounding, int64_t size);

// Returns a tensor of qint8 with one scale as one of quint8, which has the same numbers.
at::Tensor as_quint8(const at::Tensor& quantised);

}  // namespace nnapi_convert
