// SPDX-License-Identifier: BSD-3-Clause
// Finds parts of a model's outputs that have a meaning of their own and lost their values: the distance of the whole
// output hides a lost part beside larger ones.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "lib/nnapi/model.h"
#include "lib/quantise/distance.h"

namespace nnapi_convert::quantise {

// Cuts an output's elements into slices. The element at `i`, in their order in memory, has the place (i / inner) %
// size, and belongs to the first slice that ends behind that place.
struct Cut {
  size_t output = 0;
  size_t size = 1, inner = 1;
  std::vector<size_t> ends = {};     // the ends of the slices, ascending; the last is `size`
  nnapi::OperandId made = -1;        // the result of the operation that joins the slices, or gives them together
  bool is_of_concatenation = false;  // otherwise the slices are channels
};

// Returns the cuts between slices that concatenations join into float outputs, through operations that keep the slices
// apart. With `has_results` (the outputs are results of the whole model, not features), also the channels of outputs of
// rank 3 and 4.
std::vector<Cut> cuts_of(const nnapi::Model& model, bool has_results);

struct LostSlice {
  size_t first = 0, last = 0;  // its places
  double snr_db = 0;
  size_t values = 0;  // how many different values the slice still has, up to kFewValues
};

constexpr size_t kFewValues = 8;

// Returns the slices whose values are lost: those with an SNR below 10 dB, or with fewer than kFewValues different
// values that no longer follow the expected ones. The worst comes first.
std::vector<LostSlice> lost_slices(const Cut& cut, const Results& expected, const Results& found);

// Results of a model that are judged by slices.
struct SlicedResults {
  const nnapi::Model& model;
  const Results &expected, &found;
  bool has_results = true;  // as in cuts_of()
};

// Returns one warning for each output that lost slices. `mending` tells which option lets a cut's slices keep their
// values.
std::vector<std::string> warnings_of_slices(const SlicedResults& results,
                                            const std::function<std::string(const Cut&)>& mending);

}  // namespace nnapi_convert::quantise
