// Compares original and result at the borders of their inputs' dtypes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lib/converter/verify/border_samples.h"
#include "lib/converter/verify/verification.h"

namespace nnapi_convert {

struct BorderRuns {
  // Each throws ConvertError where its model doesn't run.
  std::function<Tensors(const Values&)> original, converted;
  // Of floats, of the range of the original's output; ten times as much for samples of floats from tiny to large.
  double tolerance = VerifyDefaults::kFloatTolerance;
};

// What differs, in the order of the samples; these are numbered from `first` on. A difference is no fault, but said:
// of numbers beyond 32 bits, and of infinite values and NaN where the original's own results are not finite or NNAPI
// refuses what is computed from them, as an index. Nothing is
// said of a sample that the original doesn't take, or where its own results change as much when its input changes by a
// millionth.
std::vector<BorderFinding> check_borders(const std::vector<BorderSample>& samples, int first, const BorderRuns& runs);

}  // namespace nnapi_convert
