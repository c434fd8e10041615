// SPDX-License-Identifier: BSD-3-Clause
// Measures how far results are from the expected ones, over samples.
#pragma once

#include <vector>

#include "lib/nnapi/model.h"
#include "lib/quantise/sample.h"

namespace nnapi_convert::quantise {

// The distance of all float outputs together; each is weighted by its own power. For a model with only integer outputs,
// as of ARGMAX, only `top1` has a meaning: the share of equal elements.
struct Distance {
  double rms = 0;     // over all elements
  double snr_db = 0;  // power of the expected values over that of the error; the lowest of all outputs
  double cosine = 0;  // the lowest of all outputs
  double top1 = 0;    // share of rows with the same largest element; the lowest of all outputs
  double rows = 0;    // the rows of which top1 is a share; 0: not known
  bool is_of_integers = false;
  double fewest_rows = 0;  // the least number of rows of an output that has rows; 0 if none has
  double proven_top1 = 0;  // the lowest lower bound of all outputs' top1_interval(); 0 if none has rows
};

// Returns the bounds of the true share of rows with the same largest element, in 95 of 100 cases: Wilson's score
// interval, which takes the rows as independent. From 0 to 1 if the number of rows isn't known.
struct Interval {
  double lowest = 0, highest = 1;
};
Interval top1_interval(const Distance& distance);

// Returns how many rows a run of the model gives, the fewest of its outputs; 0 where sizes are flexible or no output
// has rows of several numbers.
double rows_of_run(const nnapi::Model& model);

// Results by sample, then by output; if some outputs are floats, the others are left out. The classes of a row are
// along the last axis; of rank 4 along the channels, wherever the layout has them.
using Results = std::vector<std::vector<Bytes>>;
Distance distance(const nnapi::Model& model, const Results& expected, const Results& found);

}  // namespace nnapi_convert::quantise
