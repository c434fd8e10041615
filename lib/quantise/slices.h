// SPDX-License-Identifier: BSD-3-Clause
// Parts of a model's outputs that mean something of their own: a distance of the whole output hides one that lost all
// of its values beside larger ones.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "lib/nnapi/model.h"
#include "lib/quantise/distance.h"

namespace nnapi_convert::quantise {

// Cuts an output's elements, in their order in memory: the element at `i` is of place (i / inner) % size, and the slice
// that ends first after that place has it.
struct Cut {
  size_t output = 0;
  size_t size = 1, inner = 1;
  std::vector<size_t> ends = {};     // of the slices, ascending; the last is `size`
  nnapi::OperandId made = -1;        // the result of the operation that joins the slices, or gives them together
  bool is_of_concatenation = false;  // else the slices are channels
};

// Returns the cuts between slices that concatenations join into float outputs, through operations that keep the slices
// apart. With `has_results` (the outputs are results of the whole model, not features), also the channels of outputs of
// rank 3 and 4.
std::vector<Cut> cuts_of(const nnapi::Model& model, bool has_results);

struct LostSlice {
  size_t first = 0, last = 0;  // places
  double snr_db = 0;
  size_t values = 0;  // different ones that the slice still has, up to kFewValues
};

constexpr size_t kFewValues = 8;

// The slices whose values are lost: with an SNR below 10 dB, or with fewer than kFewValues different values that no
// longer follow those that are expected. The worst comes first.
std::vector<LostSlice> lost_slices(const Cut& cut, const Results& expected, const Results& found);

// Results of a model that are judged by slices.
struct SlicedResults {
  const nnapi::Model& model;
  const Results &expected, &found;
  bool has_results = true;  // as cuts_of() takes it
};

// One warning for each output that lost slices. `mending` tells which option lets a cut's slices keep their values.
std::vector<std::string> warnings_of_slices(const SlicedResults& results,
                                            const std::function<std::string(const Cut&)>& mending);

}  // namespace nnapi_convert::quantise
