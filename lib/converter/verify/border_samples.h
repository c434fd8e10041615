// SPDX-License-Identifier: BSD-3-Clause
// Makes inputs at the borders of their dtypes, which random samples never have: integers that float32 or int32 can't
// hold, the least and the greatest ones, floats from tiny to large, infinite values and NaN.
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
  bool is_wide = false;      // integers beyond 32 bits, which NNAPI doesn't have
  bool is_infinite = false;  // infinite values and NaN
  bool is_float = false;     // floats: the two models may round them differently
};

// The limits of a model's border samples.
struct BorderLimits {
  // No samples are made if values decide how often a loop runs or how large a tensor gets, or if operators read values
  // as indices without checking them: large numbers would stop this program. None are made for a model that keeps state
  // either, as runs of only the original would change its state.
  bool is_driven_by_values = false;
  // No samples with infinite values are made if the model sums products: the order of a sum decides which results are
  // infinite, also in PyTorch.
  bool sums_products = false;
  bool quantises_floats = false;  // fake_quantize: no samples with infinite values either
  bool makes_integers = false;    // from floats, for example
  bool orders = false;            // puts numbers in order, such as topk and sort, or keeps boxes
  bool keeps_boxes = false;       // by their scores, as NMS: how many depends on values
  // The model sums products and puts numbers in order (topk, sort, argmax): results that saturate, such as a sigmoid's,
  // are equal or not by their last bit, so that the two models may put them in another order.
  bool orders_sums = false;
  std::vector<bool> takes_indices;  // for each tensor; samples don't change tensors of indices
};

// Returns the limits that the module's graph tells; `takes_indices` stays empty.
BorderLimits limits_of(const torch::jit::Module& module);

// Returns the samples. Tensors of other dtypes than the sample's are those of `ordinary`. Each sample changes a tensor.
std::vector<BorderSample> border_samples(const Values& ordinary, const BorderLimits& limits);

}  // namespace nnapi_convert
