// Inputs at the borders of their dtypes: whole numbers that float32 or 32 bits can't hold, the least and the largest,
// floats from tiny to large, infinite values and NaN. Random samples meet none of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lib/converter/load/load.h"
#include "lib/converter/verify/verify_inputs.h"

namespace nnapi_convert {

struct BorderSample {
  std::string name;  // "int64 values near 2^31"
  Values values;
  bool is_wide = false;      // whole numbers beyond 32 bits, which NNAPI has not
  bool is_infinite = false;  // infinite values and NaN
  bool is_float = false;     // what is of floats may be rounded another way
};

// What the samples have to keep to for a model.
struct BorderLimits {
  // What tensors hold may decide how often a loop runs or how large a tensor gets, or is read as indices by operators
  // that don't check them: large numbers would stop this program, and there are no samples. Nor are there for a model
  // that keeps state, which more runs of the original alone would change.
  bool is_driven_by_values = false;
  // It sums products. Where infinite values come out of that depends on the order of the sum, also in PyTorch: there is
  // no such sample.
  bool sums_products = false;
  std::vector<bool> takes_indices;  // for each tensor: it stays as it is
};

// Of the module itself; `takes_indices` is left empty.
BorderLimits limits_of(const torch::jit::Module& module);

// Tensors of other dtypes than the sample's stay as they are in `ordinary`. Only samples that change a tensor are made.
std::vector<BorderSample> border_samples(const Values& ordinary, const BorderLimits& limits);

}  // namespace nnapi_convert
