// SPDX-License-Identifier: BSD-3-Clause
// The choices of quantising for a model, by which it can be repeated without samples.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/nnapi/model.h"
#include "lib/quantise/assign.h"
#include "lib/quantise/rewrite.h"

namespace nnapi_convert::quantise {

struct Choice {
  Assignment assignment;
  std::vector<bool> pool_layers = {};  // by operation: layers_of_pools() makes a layer of it; may be empty
  bool is_equalised = false;
  bool drops_clipping = false;        // as EqualiseOptions, if layers are equalised
  BiasChanges bias_changes = {};      // empty: biases are not corrected
  std::vector<bool> is_refined = {};  // by operand: its range is not the method's
  // By operand: the smallest and the largest value on the samples, before layers are equalised.
  std::vector<std::optional<std::pair<float, float>>> measured = {};

  size_t pool_layer_count() const;
};

// The integer form of a model, or the reason why a choice that a person may have changed can't be taken.
struct Taken {
  nnapi::Model model;
  std::string problem = {};
};

struct TakeRequest {
  nnapi::IntegerRules rules;
  bool integer_inputs = false, integer_outputs = false;  // as in RewriteRequest
};

// Returns the float model to which the choice's scales belong: `model` itself, or with layers of pools, or equalised
// layers.
nnapi::Model base_model(const nnapi::Model& model, const Choice& choice);

// Applies a choice, which has as many operations and operands as `model`.
Taken take_choice(const nnapi::Model& model, const Choice& choice, const TakeRequest& request);

// Returns a name for each operand, which is the same each time that the same model is converted: that of the value in
// the model, or else the place in NNAPI's operations. No two are the same.
std::vector<std::string> stable_names(const nnapi::Model& model);

}  // namespace nnapi_convert::quantise
