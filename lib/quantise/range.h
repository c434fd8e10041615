// SPDX-License-Identifier: BSD-3-Clause
// Finds the range of a tensor's values, and the scale that holds it.
#pragma once

#include <string>
#include <vector>

#include "lib/nnapi/integer_forms.h"
#include "lib/quantise/histogram.h"

namespace nnapi_convert::quantise {

enum class RangeMethod {
  kMinMax,
  kPercentile99999,  // leaves out a hundred-thousandth of the values at each end
  kPercentile9999,   // a ten-thousandth
  kPercentile999,    // a thousandth
  kMse,              // the least mean squared error
  kEntropy,          // the least Kullback-Leibler divergence
};
const char* name_of(RangeMethod method);
const std::vector<RangeMethod>& all_range_methods();

// Returns the scale for a range, extended to contain 0, as NNAPI asks for.
struct Range {
  double lowest = 0, highest = 0;
  nnapi::Scale scale() const;
};

Range range_of(const Histogram& histogram, RangeMethod method);

// Returns the range of constants.
Range range_of(const std::vector<float>& values);

}  // namespace nnapi_convert::quantise
