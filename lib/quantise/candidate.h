// SPDX-License-Identifier: BSD-3-Clause
// A way to quantise a model, and the integer forms that it gives.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "lib/nnapi/integer_forms.h"
#include "lib/nnapi/model.h"
#include "lib/quantise/assign.h"
#include "lib/quantise/choice.h"
#include "lib/quantise/correct_bias.h"
#include "lib/quantise/noise.h"
#include "lib/quantise/observe.h"
#include "lib/quantise/options.h"
#include "lib/quantise/rewrite.h"

namespace nnapi_convert::quantise {

// A float model that computes the same as the original, and the observed values of its tensors.
struct FloatBase {
  nnapi::Model model;
  Observations observations;
  bool is_equalised = false;
  bool drops_clipping = false;
  std::vector<bool> pool_layers = {};  // by operation; may be empty
  std::unique_ptr<WeightCache> cache = std::make_unique<WeightCache>();
};

// A way to quantise, and the noise of its results.
struct Candidate {
  std::shared_ptr<const FloatBase> base;
  Assignment assignment;
  RangeMethod method = RangeMethod::kMinMax;
  std::vector<std::optional<Range>> ranges = {};  // by operand, in place of the method's; may be empty
  std::set<size_t> refined = {};                  // tensors whose range is not the method's
  bool corrects_bias = false;
  BiasChanges changes = {};
  Noises noises = {};  // on the choosing samples

  double noise() const { return total(noises); }
};

// Replaces `best` by `other` if that one comes nearer.
void take_if_nearer(Candidate& best, Candidate other);

// Makes integer forms of candidates.
class CandidateForms {
 public:
  // `arguments` are the sizes of forward's tensors.
  CandidateForms(const std::vector<Dims>& arguments, const Options& options);

  const nnapi::IntegerRules& rules() const { return rules_; }
  // Returns the candidate's assignment; the operations of `kept` stay float.
  Assignment assignment(const Candidate& candidate, const std::vector<bool>& kept) const;
  BiasChanges changes(const Candidate& candidate) const;
  nnapi::Model integers(const Candidate& candidate, bool integer_inputs, bool integer_outputs) const;
  // Returns the operations whose integer form options.device refuses.
  std::vector<size_t> refused(const Candidate& candidate) const;
  // Returns the results of the first `count` samples, by the host's NNAPI and with floats at the boundary. Calls
  // `on_run` after each.
  Results results(const Candidate& candidate, const std::vector<const KeptSample*>& samples, size_t count,
                  const std::function<void()>& on_run) const;

 private:
  Rewritten rewritten(const Candidate& candidate, bool integer_inputs, bool integer_outputs) const;

  const std::vector<Dims>& arguments_;
  const Options& options_;
  nnapi::IntegerRules rules_;
};

// Returns the choice by which the candidate can be made again. `original` are the observations of the original model.
Choice choice_of(const Candidate& candidate, const Observations& original);

}  // namespace nnapi_convert::quantise
