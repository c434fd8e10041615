// SPDX-License-Identifier: BSD-3-Clause
// The techniques of quantising that can be switched off.
#pragma once

namespace nnapi_convert::quantise {

// The techniques that may be used if they bring the results nearer.
struct Techniques {
  bool equalises = true;          // layers
  bool corrects_bias = true;      // by what rounding weights adds
  bool searches_ranges = true;    // else all are from the smallest to the largest value
  bool refines_ranges = true;     // of single tensors
  bool makes_pool_layers = true;  // of average pools
};

}  // namespace nnapi_convert::quantise
