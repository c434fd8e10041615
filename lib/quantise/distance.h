// SPDX-License-Identifier: BSD-3-Clause
// How far results are from those that are expected, over samples.
#pragma once

#include <vector>

#include "lib/nnapi/model.h"
#include "lib/quantise/sample.h"

namespace nnapi_convert::quantise {

// Of all float outputs together; each is weighed by its own power. Of a model that gives integers alone, as ARGMAX
// does, only `top1` tells something: the share of elements that are the same.
struct Distance {
  double rms = 0;     // over all elements
  double snr_db = 0;  // power of what is expected over that of the error; the lowest of all outputs
  double cosine = 0;  // the lowest of all outputs
  double top1 = 0;    // share of rows with the same largest element; the lowest of all outputs
  double rows = 0;    // that top1 is a share of; 0 where it isn't known
  bool is_of_integers = false;
  double fewest_rows = 0;  // of all outputs with rows; 0 where none has any
  double proven_top1 = 0;  // the lowest lower bound of all outputs' top1_interval(); 0 where none has rows
};

// The bounds of the true share of rows with the same largest element, in 95 of 100 cases: Wilson's score interval,
// which takes the rows as independent. From 0 to 1 where the number of rows isn't known.
struct Interval {
  double lowest = 0, highest = 1;
};
Interval top1_interval(const Distance& distance);

// How many rows a run of the model gives, the fewest of its outputs; 0 where sizes are flexible or no output has rows
// of several numbers.
double rows_of_run(const nnapi::Model& model);

// One by sample, and in it one by output; where some are floats, the others are left out. The classes
// of a row are along the last axis; of rank 4 along the channels, wherever the layout has them.
using Results = std::vector<std::vector<Bytes>>;
Distance distance(const nnapi::Model& model, const Results& expected, const Results& found);

}  // namespace nnapi_convert::quantise
