// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/accuracy.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "lib/nnapi/cost.h"

namespace nnapi_convert::quantise {
namespace {

int64_t largest_size(const nnapi::Operand& operand) {
  int64_t largest = 0;
  for (const Dim& dim : operand.dims) largest = std::max(largest, dim.fixed_value().value_or(0));
  return largest;
}

template <typename Number>
Number number_at(const Bytes& bytes, size_t place) {
  Number number;
  std::memcpy(&number, bytes.data() + place * sizeof(Number), sizeof(Number));
  return number;
}

// Returns the place of the largest number; the first one of several.
size_t place_of_largest(const Bytes& bytes) {
  size_t best = 0;
  for (size_t i = 1; i < bytes.size() / sizeof(float); ++i) {
    if (number_at<float>(bytes, i) > number_at<float>(bytes, best)) best = i;
  }
  return best;
}

bool is_right(const Bytes& result, bool is_integer, size_t wanted) {
  if (!is_integer) return !result.empty() && place_of_largest(result) == wanted;
  return result.size() >= sizeof(int32_t) && number_at<int32_t>(result, 0) == static_cast<int64_t>(wanted);
}

// Returns how many standard deviations the samples' difference is from `delta`, with the variance that is most likely
// if `delta` is the true difference.
double deviations_from(const Accuracy& counts, double delta) {
  const auto n = static_cast<double>(counts.samples);
  const auto lost = static_cast<double>(counts.only_float), won = static_cast<double>(counts.only_integers);
  const double linear = -lost - won + (2 * n - lost + won) * delta, constant = -won * delta * (1 - delta);
  const double root = std::sqrt(std::max(0.0, linear * linear - 8 * n * constant));
  const double only_integers = std::max(0.0, (root - linear) / (4 * n));
  const double variance = n * (2 * only_integers + delta * (1 - delta));
  const double distance = lost - won - n * delta;
  constexpr double kNone = 1e-12;
  if (variance > kNone) return distance / std::sqrt(variance);
  return distance > kNone ? HUGE_VAL : distance < -kNone ? -HUGE_VAL : 0;
}

// Returns the difference between `inside` and `outside` that is `deviations` standard deviations from the samples'
// difference.
double bound(const Accuracy& counts, double inside, double outside, double deviations) {
  constexpr int kSteps = 60;
  for (int step = 0; step < kSteps; ++step) {
    const double middle = (inside + outside) / 2;
    (std::abs(deviations_from(counts, middle)) <= deviations ? inside : outside) = middle;
  }
  return inside;
}

}  // namespace

std::vector<ClassOutput> class_outputs(const nnapi::Model& model) {
  std::vector<ClassOutput> floats, integers;
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    const nnapi::Operand& operand = model.at(model.outputs[i].operand);
    const int64_t elements = nnapi::element_count(operand).value_or(0);
    if (operand.type == OperandCode::TENSOR_FLOAT32) {
      const bool is_row = elements > 1 && elements == largest_size(operand);
      if (is_row) floats.push_back({i, static_cast<size_t>(elements)});
    } else if (operand.type == OperandCode::TENSOR_INT32 && elements == 1) {
      integers.push_back({i, 0});
    }
  }
  return floats.empty() ? integers : floats;
}

Accuracy accuracy(const nnapi::Model& model, const ClassOutput& output, const Classes& classes, const Results& expected,
                  const Results& found) {
  const nnapi::OperandId operand = model.outputs.at(output.output).operand;
  const bool is_integer = model.at(operand).type == OperandCode::TENSOR_INT32;
  Accuracy result;
  for (size_t i = 0; i < classes.size(); ++i) {
    if (!classes[i]) continue;
    const bool by_float = is_right(expected.at(i).at(output.output), is_integer, *classes[i]);
    const bool by_integers = is_right(found.at(i).at(output.output), is_integer, *classes[i]);
    ++result.samples;
    result.right_float += by_float ? 1 : 0;
    result.right_integers += by_integers ? 1 : 0;
    result.only_float += by_float && !by_integers ? 1 : 0;
    result.only_integers += by_integers && !by_float ? 1 : 0;
  }
  return result;
}

Interval loss_interval(const Accuracy& accuracy) {
  if (accuracy.samples == 0) return {-1, 1};
  constexpr double kDeviations = 1.959964;  // 95 % of a normal distribution lie within so many
  const double lost = (static_cast<double>(accuracy.only_float) - static_cast<double>(accuracy.only_integers)) /
                      static_cast<double>(accuracy.samples);
  return {bound(accuracy, lost, -1, kDeviations), bound(accuracy, lost, 1, kDeviations)};
}

}  // namespace nnapi_convert::quantise
