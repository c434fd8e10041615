// SPDX-License-Identifier: BSD-3-Clause
// The techniques of quantising that can be switched off.
#pragma once

namespace nnapi_convert::quantise {

// The techniques that may be used if they bring the results nearer.
struct Techniques {
  bool equalises = true;          // equalises layers
  bool corrects_bias = true;      // corrects biases by the error of rounding weights
  bool searches_ranges = true;    // otherwise all ranges go from the smallest to the largest value
  bool refines_ranges = true;     // refines the ranges of single tensors
  bool makes_pool_layers = true;  // makes layers of average pools
};

}  // namespace nnapi_convert::quantise
