// SPDX-License-Identifier: BSD-3-Clause
// Measures the noise of results against the float model's, sample by sample, by which quantising chooses.
#pragma once

#include <cstddef>
#include <vector>

#include "lib/nnapi/model.h"
#include "lib/quantise/distance.h"

namespace nnapi_convert::quantise {

// By sample: the power of the error, as a share of the expected results' power on all samples; the mean over all float
// outputs, so that each is weighted by its own power. Less is nearer. For a model with only integer outputs, as of
// ARGMAX: the share of elements that differ.
using Noises = std::vector<double>;

// Return the sum over all samples, or over the first `most`.
double total(const Noises& noises);
double total(const Noises& noises, size_t most);

class NoiseMeter {
 public:
  NoiseMeter(const nnapi::Model& model, const Results& expected);

  // Returns the noises of the first samples, as many as `found` has.
  Noises noises(const Results& found) const;

 private:
  struct Output {
    size_t index;
    bool is_float;
    double whole;  // the whole of which errors are a share: power, or number of integers; 0: silent
  };

  const Results& expected_;
  std::vector<Output> outputs_;
};

// The probability that chance alone looks like a gain: one in 40 for one of a few alternatives, one in a thousand for
// one of the hundreds of ranges that are tried for a model.
enum class Chance { kOneIn40, kOneIn1000 };

// True if the samples show that the results of `noises` are nearer than those of `than`, rather than that a few happen
// to be: by the paired t statistic. Both are of the same samples. False for a single sample.
bool is_nearer_beyond_chance(const Noises& noises, const Noises& than, Chance chance);

}  // namespace nnapi_convert::quantise
