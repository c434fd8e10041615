// SPDX-License-Identifier: BSD-3-Clause
// Compares the original and the converted model on inputs at the borders of their dtypes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lib/converter/verify/border_samples.h"
#include "lib/converter/verify/verification.h"

namespace nnapi_convert {

struct BorderRuns {
  // The functions run a model, and throw ConvertError if it fails.
  std::function<Tensors(const Values&)> original, converted;
  // The greatest error of floats, as a share of the range of the original's output; ten times as much for samples with
  // floats from tiny to large.
  double tolerance = VerifyDefaults::kFloatTolerance;
  bool orders_sums = false;       // BorderLimits::orders_sums
  bool is_approximate = false;    // the converted model's weights are rounded, or its functions approximated
  bool is_without_torch = false;  // results need with_numbers_of()
};

// Returns the differences in the order of the samples, which are numbered from `first` on. A difference is reported,
// but is no fault, for integers beyond 32 bits, for floats if the original's own are not finite, the model orders
// sums or the converted one is approximate, and for infinite values and NaN if NNAPI refuses values computed from them,
// such as an index. A sample is skipped if the original fails on it, or if the original's results change as much when
// its input changes by a millionth.
std::vector<BorderFinding> check_borders(const std::vector<BorderSample>& samples, int first, const BorderRuns& runs);

}  // namespace nnapi_convert
