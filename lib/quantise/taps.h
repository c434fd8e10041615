// SPDX-License-Identifier: BSD-3-Clause
// Tells which channels the elements of a filter join.
#pragma once

#include <cstddef>
#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert::quantise {

// The channels of an element: it belongs to output channel `output`, and is multiplied with input channel `input`.
struct Tap {
  size_t output = 0, input = 0;
};

class Taps {
 public:
  // Describes a filter of this shape, in NNAPI's order, for an input of `inputs` channels.
  Taps(OperationCode code, const std::vector<int64_t>& shape, size_t inputs);

  // Returns false if the shape doesn't fit so many channels: at() must not be called then.
  bool fits() const;
  Tap at(size_t element) const;
  size_t outputs() const { return outputs_; }

 private:
  OperationCode code_;
  size_t last_ = 1, outputs_ = 1, per_output_ = 1, inputs_ = 0;
};

}  // namespace nnapi_convert::quantise
