// SPDX-License-Identifier: BSD-3-Clause
// Average pools as layers. NNAPI's AVERAGE_POOL_2D and MEAN give integers of their input's scale, which is coarse where
// averages over a whole image lie near each other. A DEPTHWISE_CONV_2D whose weights are all 1 / n computes the same,
// and its result has a scale of its own.
#pragma once

#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert::quantise {

struct LayersOfPools {
  nnapi::Model model;          // operands and operations keep their numbers; new constants follow
  std::vector<bool> is_layer;  // by operation: it was a pool
  bool any() const;
};

// Replaces pools over whole images of at most 16 x 16 places by layers, except the operations in `left_out`. Layers in
// NCHW need feature level 3.
LayersOfPools layers_of_pools(const nnapi::Model& model, const std::vector<bool>& left_out, bool allows_nchw);

}  // namespace nnapi_convert::quantise
