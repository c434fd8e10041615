// SPDX-License-Identifier: BSD-3-Clause
// Cross-layer equalisation: brings channels of very different sizes nearer to each other, so that one scale holds them
// all.
//
// If a layer's channel is divided by a factor, and the next layer's weights for that channel are multiplied by it, the
// network computes the same, as long as only ReLU, pools and similar operations are between the two.
#pragma once

#include <vector>

#include "lib/nnapi/model.h"
#include "lib/quantise/observe.h"

namespace nnapi_convert::quantise {

struct EqualiseOptions {
  // RELU6 becomes RELU, so that its layers can be equalised, even if it cuts values off; otherwise only if no sample
  // reaches 6.
  bool drops_clipping = false;
};

struct Equalised {
  nnapi::Model model;         // operands and operations keep their numbers; new constants follow
  size_t pairs = 0;           // pairs of layers that were equalised
  bool has_clipping = false;  // RELU6 between layers cuts values off
};

Equalised equalise(const nnapi::Model& model, const Observations& observations, const EqualiseOptions& options);

}  // namespace nnapi_convert::quantise
