// SPDX-License-Identifier: BSD-3-Clause
// Decides which operations compute with integers, and gives their tensors scales.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "lib/nnapi/integer_forms.h"
#include "lib/nnapi/model.h"
#include "lib/quantise/observe.h"
#include "lib/quantise/range.h"

namespace nnapi_convert::quantise {

// The scales of a model's filters, which many assignments need.
class WeightCache {
 public:
  // Returns the best scale for the filter's values, or the symmetric one that covers them.
  nnapi::Scale scale(const nnapi::Model& model, nnapi::OperandId filter, bool is_symmetric);

 private:
  std::map<std::pair<nnapi::OperandId, bool>, nnapi::Scale> scales_;
};

struct AssignRequest {
  const nnapi::Model& model;
  const Observations& observations;
  nnapi::IntegerRules rules;
  RangeMethod method = RangeMethod::kMinMax;
  std::vector<bool> kept_float;                  // by operation
  std::vector<std::optional<Range>> given = {};  // by operand: ranges in place of measured ones; may be empty
  WeightCache* cache = nullptr;
  bool integer_outputs = false;  // the model's caller gets integers
};

struct Assignment {
  std::vector<bool> is_integer;                     // by operation
  std::vector<std::optional<nnapi::Scale>> scales;  // by operand: for tensors and constants beside integer operations
  // By operand: the ranges that the scales hold, of tensors beside integer operations without a fixed scale. Tensors
  // with the same number in `groups` share a range.
  std::vector<std::optional<Range>> ranges;
  std::vector<size_t> groups;
  size_t integer_count() const;
};

Assignment assign(const AssignRequest& request);

// Returns the scale of a filter with one scale; `input` is the scale of the operation's input. It is large enough that
// no bias overflows.
nnapi::Scale filter_scale(const nnapi::Model& model, const nnapi::Operation& operation, const nnapi::Scale& input,
                          const nnapi::IntegerRules& rules, WeightCache* cache = nullptr);
// Returns the scales of a filter with a scale for each channel.
std::vector<float> filter_scales(const nnapi::Model& model, const nnapi::Operation& operation,
                                 const nnapi::Scale& input);

}  // namespace nnapi_convert::quantise
