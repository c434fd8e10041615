#include "lib/quantise/correct_bias.h"

#include <algorithm>
#include <cmath>

namespace nnapi_convert::quantise {
namespace {

using nnapi::Model;
using nnapi::Operation;

// The filter's element `i` is of output channel `output`, and is multiplied with input channel `input`.
struct Tap {
  size_t output = 0, input = 0;
};

class Taps {
 public:
  Taps(const Operation& operation, const std::vector<int64_t>& shape, size_t inputs) : code_(operation.code) {
    last_ = static_cast<size_t>(shape.back());
    outputs_ = static_cast<size_t>(code_ == OperationCode::DEPTHWISE_CONV_2D ? shape.back() : shape[0]);
    size_t count = 1;
    for (const int64_t size : shape) count *= static_cast<size_t>(size);
    per_output_ = count / outputs_;
    inputs_ = inputs;
  }

  bool fits() const {
    if (inputs_ == 0) return false;
    switch (code_) {
      case OperationCode::DEPTHWISE_CONV_2D:
        return outputs_ % inputs_ == 0;
      case OperationCode::GROUPED_CONV_2D:
        return inputs_ % last_ == 0 && outputs_ % (inputs_ / last_) == 0;
      case OperationCode::CONV_2D:
      case OperationCode::FULLY_CONNECTED:
        return last_ == inputs_;
      default:  // not every tap of a transposed convolution meets every element
        return false;
    }
  }

  Tap at(size_t i) const {
    if (code_ == OperationCode::DEPTHWISE_CONV_2D) return {i % last_, i % last_ / (outputs_ / inputs_)};
    const size_t output = i / per_output_;
    if (code_ != OperationCode::GROUPED_CONV_2D) return {output, i % last_};
    const size_t group = output / (outputs_ / (inputs_ / last_));
    return {output, group * last_ + i % last_};
  }

  size_t outputs() const { return outputs_; }

 private:
  OperationCode code_;
  size_t last_ = 0, outputs_ = 0, per_output_ = 0, inputs_ = 0;
};

double rounded(double value, const Scale& scale) {
  const double steps = std::round(value / static_cast<double>(scale.scale)) + scale.zero_point;
  const double stored = std::min(255.0, std::max(0.0, steps));
  return (stored - scale.zero_point) * static_cast<double>(scale.scale);
}

double rounded(double value, float scale) {
  const double steps = std::round(value / static_cast<double>(scale));
  return std::min(127.0, std::max(-127.0, steps)) * static_cast<double>(scale);
}

std::vector<float> changes_of(const Model& model, const Operation& operation, const ChannelStatistics& inputs,
                              const Scale& scale, const Rules& rules) {
  const nnapi::Constant& filter = *model.at(operation.inputs[1]).constant();
  const Taps taps(operation, filter.shape(), inputs.sums.size());
  if (!taps.fits()) return {};
  const bool by_channel = rules.per_channel && channel_axis(operation.code).has_value();
  std::vector<float> scales;
  if (by_channel) scales = filter_scales(model, operation, scale);
  const Scale whole = filter_scale(model, operation, scale);
  const std::vector<float> values = filter.floats();
  std::vector<double> added(taps.outputs(), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    const Tap tap = taps.at(i);
    const auto value = static_cast<double>(values[i]);
    const double error = (by_channel ? rounded(value, scales[tap.output]) : rounded(value, whole)) - value;
    added[tap.output] += error * inputs.mean(tap.input);
  }
  std::vector<float> changes;
  for (const double each : added) changes.push_back(static_cast<float>(-each));
  return changes;
}

}  // namespace

BiasChanges bias_changes(const Model& model, const Observations& observations, const Assignment& assignment,
                         const Rules& rules) {
  BiasChanges changes(model.operations.size());
  for (size_t i = 0; i < model.operations.size(); ++i) {
    const Operation& operation = model.operations[i];
    if (!assignment.is_integer[i] || form_of(operation.code) != Form::kWeighted) continue;
    const auto input = static_cast<size_t>(operation.inputs[0]);
    changes[i] = changes_of(model, operation, observations.channels[input], *assignment.scales[input], rules);
  }
  return changes;
}

}  // namespace nnapi_convert::quantise
