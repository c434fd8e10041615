// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/correct_bias.h"

#include <algorithm>
#include <cmath>

#include "lib/quantise/taps.h"

namespace nnapi_convert::quantise {
namespace {

using nnapi::Model;
using nnapi::Operation;

double rounded(double value, const nnapi::Scale& scale) {
  const double steps = std::round(value / static_cast<double>(scale.scale)) + scale.zero_point;
  const double stored = std::min(255.0, std::max(0.0, steps));
  return (stored - scale.zero_point) * static_cast<double>(scale.scale);
}

double rounded(double value, float scale) {
  const double steps = std::round(value / static_cast<double>(scale));
  return std::min(127.0, std::max(-127.0, steps)) * static_cast<double>(scale);
}

std::vector<float> changes_of(const Model& model, const Operation& operation, const ChannelStatistics& inputs,
                              const nnapi::Scale& scale, const nnapi::IntegerRules& rules, WeightCache* cache) {
  const nnapi::Constant& filter = *model.at(operation.inputs[1]).constant();
  const Taps taps(operation.code, filter.shape(), inputs.sums.size());
  // Not every tap of a transposed convolution meets every element.
  if (!taps.fits() || operation.code == OperationCode::TRANSPOSE_CONV_2D) return {};
  const bool by_channel = rules.per_channel && nnapi::channel_axis(operation.code).has_value();
  std::vector<float> scales;
  if (by_channel) scales = filter_scales(model, operation, scale);
  const nnapi::Scale whole = filter_scale(model, operation, scale, rules, cache);
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
                         const nnapi::IntegerRules& rules, WeightCache* cache) {
  BiasChanges changes(model.operations.size());
  for (size_t i = 0; i < model.operations.size(); ++i) {
    const Operation& operation = model.operations[i];
    if (!assignment.is_integer[i] || nnapi::form_of(operation.code) != nnapi::IntegerForm::kWeighted) continue;
    const auto input = static_cast<size_t>(operation.inputs[0]);
    // Not measured: the input of a pool that became a layer, whose weights are exact.
    if (observations.channels[input].count == 0) continue;
    changes[i] = changes_of(model, operation, observations.channels[input], *assignment.scales[input], rules, cache);
  }
  return changes;
}

}  // namespace nnapi_convert::quantise
