// SPDX-License-Identifier: BSD-3-Clause
// Chooses the weights that are stored as int8, by the error that this makes on samples.
#pragma once

#include <vector>

#include "lib/nnapi/model.h"
#include "lib/quantise/kept_sample.h"
#include "lib/serialize/int8_weights.h"

namespace nnapi_convert::quantise {

// The largest error allowed, as a share of an output's range. verify allows 0.01, on other samples.
constexpr double kMostInt8Error = 0.006;

struct Int8Choice {
  std::vector<bool> is_int8;  // by candidate
  double error = 0;           // the largest difference from the float weights' result, of an output's range; of outputs
                              // that are no numbers but choices or truths: the share of other elements
};

// Stores the model's candidates as int8 while the error is at most kMostInt8Error: all of them, or else as many as
// possible, in the order of their rounding errors for each byte that they save. Finds them in at most some 30 runs of
// the model, by halves. `candidates` are those of int8_candidates(model). Throws ConvertError (kVerificationFailed) if
// the host's NNAPI doesn't run the model, which then has its float weights.
Int8Choice choose_int8(nnapi::Model& model, const std::vector<Int8Candidate>& candidates,
                       const std::vector<Dims>& arguments, int feature_level, const std::vector<KeptSample>& samples);

}  // namespace nnapi_convert::quantise
