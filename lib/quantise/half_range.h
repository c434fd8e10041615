// SPDX-License-Identifier: BSD-3-Clause
// Keeps a float model's values within float16's range, for drivers that compute float32 in half precision
// (relaxed float32): finds tensors that leave it on samples, and divides them by a power of two.
//
// The factor is folded into weights: those of the layers that make the values are divided, those of the layers that
// read them multiplied. Between the two may be operations that keep a factor: ReLU, pools, means, sums, and what only
// moves values. A power of two changes no digit of a float32, so that the model computes the same.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "lib/nnapi/model.h"
#include "lib/quantise/kept_sample.h"

namespace nnapi_convert::quantise {

struct HalfRangeRequest {
  const nnapi::Model& model;
  const std::vector<Dims>& arguments;  // sizes of forward's tensors
  int feature_level = 3;
};

struct HalfRange {
  nnapi::Model model;                 // operands and operations keep their numbers; new constants follow
  std::vector<std::string> rescaled;  // a sentence for each group of tensors that was divided
  std::vector<std::string> beyond;    // a sentence for each tensor that leaves the range still, with the reason
  std::set<std::string> values;       // names of the results of operations that write or read those tensors
};

// Returns the model with values that fit, and what could not be fitted. Throws ConvertError (kVerificationFailed) if
// the host's NNAPI doesn't run the model.
HalfRange fit_half_range(const HalfRangeRequest& request, const std::vector<KeptSample>& samples);

}  // namespace nnapi_convert::quantise
