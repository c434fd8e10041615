// Decides which operations compute with integers, and gives their tensors scales.
#pragma once

#include <optional>
#include <vector>

#include "lib/nnapi/model.h"
#include "lib/quantise/forms.h"
#include "lib/quantise/observe.h"
#include "lib/quantise/range.h"

namespace nnapi_convert::quantise {

struct AssignRequest {
  const nnapi::Model& model;
  const Observations& observations;
  Rules rules;
  RangeMethod method = RangeMethod::kMinMax;
  std::vector<bool> kept_float;                  // by operation
  std::vector<std::optional<Range>> given = {};  // by operand: ranges that are not measured but told; may be empty
};

struct Assignment {
  std::vector<bool> is_integer;              // by operation
  std::vector<std::optional<Scale>> scales;  // by operand: of tensors and constants beside integer operations
  size_t integer_count() const;
};

Assignment assign(const AssignRequest& request);

// Of a filter with one scale, asymmetric; `input` is the scale of what the operation reads. No bias overflows by it.
Scale filter_scale(const nnapi::Model& model, const nnapi::Operation& operation, const Scale& input);
// Of a filter with a scale for each channel.
std::vector<float> filter_scales(const nnapi::Model& model, const nnapi::Operation& operation, const Scale& input);

}  // namespace nnapi_convert::quantise
