// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/int8_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "lib/format/operation_table.h"
#include "lib/serialize/buffer_words.h"

namespace nnapi_convert {
namespace {

constexpr int kMostSteps = 127;

size_t product(const std::vector<int64_t>& sizes, size_t begin, size_t end) {
  size_t result = 1;
  for (size_t i = begin; i < end; ++i) result *= static_cast<size_t>(sizes[i]);
  return result;
}

// The numbers of one channel and their integers.
class Channel {
 public:
  explicit Channel(size_t size) : values_(size), integers_(size), errors_(size) {}

  std::vector<float>& values() { return values_; }
  const std::vector<int8_t>& integers() const { return integers_; }
  double scale() const { return scale_; }

  // Chooses the scale and the integers of the values, which are finite.
  void round() {
    scale_ = chosen_scale();
    double sum = 0;
    for (size_t i = 0; i < values_.size(); ++i) {
      const double exact = values_[i] / scale_;
      const double rounded = std::min<double>(kMostSteps, std::max<double>(-kMostSteps, std::nearbyint(exact)));
      integers_[i] = static_cast<int8_t>(rounded);
      errors_[i] = static_cast<float>(rounded - exact);
      sum += errors_[i];
    }
    balance(sum);
  }

  // Returns the sum of the squares of the errors, in the unit of the values.
  double error_power() const {
    double sum = 0;
    for (const float error : errors_) sum += static_cast<double>(error) * error;
    return sum * scale_ * scale_;
  }

 private:
  float chosen_scale() const {
    float largest = 0;
    for (const float value : values_) largest = std::max(largest, std::fabs(value));
    const float least = largest / kMostSteps;
    if (!std::isnormal(least)) return 1;  // all are 0, or as good as 0
    // A grid of few steps is also a grid of twice as many, so that larger numbers of steps suffice.
    for (int steps = kMostSteps; steps > kMostSteps / 2; --steps) {
      const float step = largest / static_cast<float>(steps);
      if (is_grid(step)) return step;
    }
    return least;
  }

  bool is_grid(float step) const {
    constexpr double kMostOff = 1e-3;  // of a step
    return std::all_of(values_.begin(), values_.end(), [&](float value) {
      const double exact = static_cast<double>(value) / step;
      return std::fabs(exact - std::nearbyint(exact)) <= kMostOff;
    });
  }

  // Rounds the values nearest to a half the other way, until the errors add up to at most half a step.
  void balance(double sum) {
    const auto count = static_cast<size_t>(std::fabs(std::nearbyint(sum)));
    if (count == 0) return;
    const int direction = sum > 0 ? -1 : 1;
    std::vector<uint32_t> order(errors_.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto comes_first = [&](uint32_t a, uint32_t b) {
      return std::make_pair(errors_[a] * static_cast<float>(direction), a) <
             std::make_pair(errors_[b] * static_cast<float>(direction), b);
    };
    const size_t moved = std::min(count, order.size());
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(moved - 1), order.end(), comes_first);
    for (size_t i = 0; i < moved; ++i) {
      const int integer = integers_[order[i]] + direction;
      if (std::abs(integer) > kMostSteps) continue;
      integers_[order[i]] = static_cast<int8_t>(integer);
      errors_[order[i]] += static_cast<float>(direction);
    }
  }

  std::vector<float> values_;
  std::vector<int8_t> integers_;
  std::vector<float> errors_;  // integer minus exact number, in steps
  double scale_ = 1;
};

// Returns the axis of a weight whose indices have a scale each: that of the layer's output channels, or the first axis
// of several elements.
size_t channel_axis(const nnapi::Operation& reader, const nnapi::Operand& weight) {
  if (reader.code == OperationCode::DEPTHWISE_CONV_2D && weight.dims.size() == 4) return 3;
  size_t axis = 0;
  while (axis + 1 < weight.dims.size() && weight.dims[axis].fixed_value() == 1) ++axis;
  return axis;
}

bool is_smaller_as_int8(const nnapi::Constant& weight, size_t axis) {
  const size_t bytes = weight.element_count();
  const size_t scale_bytes = sizeof(float) * static_cast<size_t>(weight.shape()[axis]);
  return bytes > kMaxImmediateBytes && bytes + scale_bytes < 2 * weight.element_count();
}

void add_candidates(nnapi::Model& model, std::vector<Int8Candidate>& candidates) {
  const std::vector<std::vector<size_t>> readers = nnapi::readers_of(model);
  for (size_t i = 0; i < model.operands.size(); ++i) {
    const nnapi::Operand& operand = model.operands[i];
    const nnapi::Constant* value = operand.constant();
    if (operand.type != OperandCode::TENSOR_FLOAT32 || value == nullptr || readers[i].empty()) continue;
    if (value->type() != nnapi::DataType::kFloat32 || value->shape().size() < 2) continue;
    const nnapi::Operation& reader = model.operations[readers[i][0]];
    const size_t axis = channel_axis(reader, operand);
    if (!is_smaller_as_int8(*value, axis)) continue;
    std::optional<Int8Weight> weight = round_to_int8(*value, axis);
    if (!weight) continue;
    const std::string& result = model.at(reader.outputs[0]).name;
    std::string name = name_of(reader.code);
    if (!reader.source.empty()) {
      name += " at " + reader.source;
    } else if (!result.empty()) {
      name += " of " + result;
    }
    candidates.push_back({&model, static_cast<nnapi::OperandId>(i), std::move(*weight), std::move(name)});
  }
}

}  // namespace

std::optional<Int8Weight> round_to_int8(const nnapi::Constant& weight, size_t axis) {
  const nnapi::Constant evaluated = weight.evaluated();
  const auto* numbers = static_cast<const float*>(evaluated.source());
  const std::vector<int64_t>& shape = weight.shape();
  const size_t outer = product(shape, 0, axis), inner = product(shape, axis + 1, shape.size());
  const auto count = static_cast<size_t>(shape[axis]);
  auto integers = std::make_shared<std::vector<int8_t>>(weight.element_count());
  auto channels = std::make_shared<nnapi::ChannelScales>();
  channels->axis = axis;
  Channel channel(outer * inner);
  double error_power = 0, power = 0;
  for (size_t c = 0; c < count; ++c) {
    for (size_t o = 0; o < outer; ++o) {
      std::memcpy(channel.values().data() + o * inner, numbers + (o * count + c) * inner, sizeof(float) * inner);
    }
    for (const float value : channel.values()) {
      if (!std::isfinite(value)) return std::nullopt;
      power += static_cast<double>(value) * value;
    }
    channel.round();
    channels->scales.push_back(static_cast<float>(channel.scale()));
    error_power += channel.error_power();
    for (size_t o = 0; o < outer; ++o) {
      std::memcpy(integers->data() + (o * count + c) * inner, channel.integers().data() + o * inner, inner);
    }
  }
  const void* data = integers->data();
  return Int8Weight{nnapi::Constant(nnapi::DataType::kInt8, shape, data, std::move(integers)), std::move(channels),
                    power > 0 ? error_power / power : 0};
}

std::vector<Int8Candidate> int8_candidates(nnapi::Model& model) {
  std::vector<Int8Candidate> candidates;
  for (nnapi::Model* each : nnapi::with_subgraphs(model)) add_candidates(*each, candidates);
  return candidates;
}

void store_as_int8(const Int8Candidate& candidate) {
  nnapi::Operand& operand = candidate.model->at(candidate.operand);
  operand.value = candidate.weight.value;
  operand.channels = candidate.weight.channels;
}

size_t StoredWeights::int8_count() const {
  return static_cast<size_t>(
      std::count_if(weights.begin(), weights.end(), [](const Weight& weight) { return weight.is_int8; }));
}

std::string to_text(const StoredWeights& stored) {
  constexpr size_t kShown = 5;
  const size_t count = stored.int8_count(), rest = stored.weights.size() - count;
  std::string text = fmt::format("--int8-weights: {} of {} weights stored as int8", count, stored.weights.size());
  if (stored.samples > 0) {
    text += fmt::format(", error at most {:.2g} % of an output's range on {} {}sample{}", 100 * stored.error,
                        stored.samples, stored.has_given_samples ? "" : "seeded ", stored.samples == 1 ? "" : "s");
  }
  if (rest == 0) return text + "\n";
  std::vector<std::string> names;
  for (const StoredWeights::Weight& weight : stored.weights) {
    if (!weight.is_int8 && names.size() < kShown) names.push_back(weight.name);
  }
  return text + fmt::format("; for more it would be too large, so that {} stay{} {}: {}{}\n", rest,
                            rest == 1 ? "s" : "", stored.keeps_float16 ? "float16" : "float32", fmt::join(names, ", "),
                            rest > kShown ? fmt::format(", and {} more", rest - kShown) : "");
}

}  // namespace nnapi_convert
