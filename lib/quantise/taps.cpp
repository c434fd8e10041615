// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/taps.h"

namespace nnapi_convert::quantise {

Taps::Taps(OperationCode code, const std::vector<int64_t>& shape, size_t inputs) : code_(code), inputs_(inputs) {
  size_t count = 1;
  for (const int64_t size : shape) count *= static_cast<size_t>(size);
  if (shape.empty() || count == 0) {
    inputs_ = 0;
    return;
  }
  last_ = static_cast<size_t>(shape.back());
  outputs_ = static_cast<size_t>(code_ == OperationCode::DEPTHWISE_CONV_2D ? shape.back() : shape[0]);
  per_output_ = count / outputs_;
}

bool Taps::fits() const {
  if (inputs_ == 0) return false;
  switch (code_) {
    case OperationCode::DEPTHWISE_CONV_2D:
      return outputs_ % inputs_ == 0;
    case OperationCode::GROUPED_CONV_2D:
      return inputs_ % last_ == 0 && outputs_ % (inputs_ / last_) == 0;
    default:
      return last_ == inputs_;
  }
}

Tap Taps::at(size_t element) const {
  if (code_ == OperationCode::DEPTHWISE_CONV_2D) return {element % last_, element % last_ / (outputs_ / inputs_)};
  const size_t output = element / per_output_;
  if (code_ != OperationCode::GROUPED_CONV_2D) return {output, element % last_};
  const size_t group = output / (outputs_ / (inputs_ / last_));
  return {output, group * last_ + element % last_};
}

}  // namespace nnapi_convert::quantise
