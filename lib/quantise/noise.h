// SPDX-License-Identifier: BSD-3-Clause
// What quantising chooses by: the noise of results against those of the float model, sample by sample.
#pragma once

#include <cstddef>
#include <vector>

#include "lib/nnapi/model.h"
#include "lib/quantise/distance.h"

namespace nnapi_convert::quantise {

// By sample: the power of the error, as a share of the power of what is expected on all samples; the mean of all float
// outputs, so that each is weighed by its own power. Less is nearer. Of a model that gives integers alone, as ARGMAX
// does: the share of elements that are others.
using Noises = std::vector<double>;

// The sum of the first `most` samples; of all that there are.
double total(const Noises& noises);
double total(const Noises& noises, size_t most);

class NoiseMeter {
 public:
  NoiseMeter(const nnapi::Model& model, const Results& expected);

  // Of the first samples, as many as `found` has.
  Noises noises(const Results& found) const;

 private:
  struct Output {
    size_t index;
    bool is_float;
    double whole;  // what errors are a share of, 0 where nothing is expected: the power, or the number of integers
  };

  const Results& expected_;
  std::vector<Output> outputs_;
};

// How often chance alone may look like a gain: once in 40 times for one of a few alternatives, once in a thousand times
// for one of the hundreds of ranges that are tried for a model.
enum class Chance { kOneIn40, kOneIn1000 };

// The samples show that the one is nearer than the other, rather than that a few of them happen to be: by the paired t
// statistic. Samples of both are the same ones. False of a single sample.
bool is_nearer_beyond_chance(const Noises& noises, const Noises& than, Chance chance);

}  // namespace nnapi_convert::quantise
