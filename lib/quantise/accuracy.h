// SPDX-License-Identifier: BSD-3-Clause
// Counts how many samples with a known class a classifier gets right, in float and in integers.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "lib/nnapi/model.h"
#include "lib/quantise/distance.h"

namespace nnapi_convert::quantise {

// The number of each sample's class; nothing for a sample whose class isn't known.
using Classes = std::vector<std::optional<size_t>>;

// An output that tells the class of an input: by the place of its largest number, or, for an output of integers, by the
// integer itself.
struct ClassOutput {
  size_t output = 0;   // among the model's outputs
  size_t classes = 0;  // 0: not known, for an output of integers
};

// Returns the outputs that have one row of several numbers; for a model without float outputs, those of one integer.
std::vector<ClassOutput> class_outputs(const nnapi::Model& model);

// Counts of right answers over the samples whose class is known.
struct Accuracy {
  size_t samples = 0;
  size_t right_float = 0, right_integers = 0;
  size_t only_float = 0, only_integers = 0;  // samples that only one of the two forms gets right

  static constexpr size_t kFewSamples = 30;  // fewer say nothing of a loss: one sample is more than 3 points

  double of_float() const { return share(right_float); }
  double of_integers() const { return share(right_integers); }
  bool is_of_few() const { return samples < kFewSamples; }
  // Returns how many samples both forms get right, or neither.
  size_t agreed() const { return samples - only_float - only_integers; }

 private:
  double share(size_t right) const {
    return samples == 0 ? 0 : static_cast<double>(right) / static_cast<double>(samples);
  }
};

Accuracy accuracy(const nnapi::Model& model, const ClassOutput& output, const Classes& classes, const Results& expected,
                  const Results& found);

// Returns the bounds of the accuracy that is truly lost, from -1 to 1, in 95 of 100 cases: Tango's score interval for
// the difference of two proportions of the same samples (Statistics in Medicine 17, 1998). From -1 to 1 without
// samples.
Interval loss_interval(const Accuracy& accuracy);

}  // namespace nnapi_convert::quantise
