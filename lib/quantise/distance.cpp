// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/distance.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "lib/base/class_axis.h"

namespace nnapi_convert::quantise {
namespace {

std::vector<float> floats_of(const Bytes& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// The layout of an output's classes: element `c` of row (i, j) is at (i * classes + c) * inner + j.
struct Rows {
  size_t classes = 1, inner = 1;
};

// Returns the place of the largest of `classes` elements, which are `inner` apart.
size_t largest_at(const float* values, const Rows& rows) {
  size_t best = 0;
  for (size_t i = 1; i < rows.classes; ++i) {
    if (values[i * rows.inner] > values[best * rows.inner]) best = i;
  }
  return best;
}

struct Sums {
  double signal = 0, noise = 0, product = 0, found = 0, count = 0, rows = 0, same = 0;

  void add(const std::vector<float>& expected, const std::vector<float>& results, const Rows& layout) {
    for (size_t i = 0; i < expected.size(); ++i) {
      const double a = static_cast<double>(expected[i]), b = static_cast<double>(results[i]);
      if (!std::isfinite(a) || !std::isfinite(b)) continue;
      signal += a * a;
      found += b * b;
      product += a * b;
      noise += (a - b) * (a - b);
      ++count;
    }
    const size_t block = layout.classes * layout.inner;
    for (size_t begin = 0; layout.classes > 1 && begin + block <= expected.size(); begin += block) {
      for (size_t i = begin; i < begin + layout.inner; ++i) {
        ++rows;
        same += largest_at(&expected[i], layout) == largest_at(&results[i], layout) ? 1 : 0;
      }
    }
  }
  // A silent output can lose nothing.
  double noise_share() const { return signal > 0 ? noise / signal : (noise > 0 ? 1 : 0); }
};

// Returns the layout of an output of `elements` values; one without rows if the needed sizes are flexible.
Rows rows_of(const nnapi::Model& model, const nnapi::Boundary& output, size_t elements) {
  const Dims& dims = model.at(output.operand).dims;
  if (dims.empty()) return {};
  const size_t last = dims.size() - 1, axis = output.nhwc ? last : class_axis(dims.size());
  if (!dims[axis].is_fixed()) return {};
  const auto classes = static_cast<size_t>(*dims[axis].fixed_value());
  if (axis == last) return {classes, 1};
  const auto batch = static_cast<size_t>(dims[0].fixed_value().value_or(0));
  return batch * classes == 0 ? Rows() : Rows{classes, elements / (batch * classes)};
}

// Adds the share of an output's rows that are equal to the result.
void add_rows(double share, double rows, Distance& result) {
  const bool is_first = result.rows == 0;
  Distance own;
  own.top1 = share;
  own.rows = rows;
  const double proven = top1_interval(own).lowest;
  result.proven_top1 = is_first ? proven : std::min(result.proven_top1, proven);
  result.fewest_rows = is_first ? rows : std::min(result.fewest_rows, rows);
  if (!is_first && share >= result.top1) return;
  result.top1 = share;
  result.rows = rows;
}

// Returns the distance of outputs that are integers, such as those of ARGMAX.
Distance distance_of_integers(const nnapi::Model& model, const Results& expected, const Results& found) {
  Distance result{0, std::numeric_limits<double>::infinity(), 1, 1, 0, true, 0, 0};
  for (size_t output = 0; output < model.outputs.size(); ++output) {
    if (model.at(model.outputs[output].operand).type != OperandCode::TENSOR_INT32) continue;
    double count = 0, same = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      const Bytes &one = expected[i][output], &other = found[i][output];
      for (size_t at = 0; at + sizeof(int32_t) <= one.size(); at += sizeof(int32_t)) {
        ++count;
        same += std::memcmp(one.data() + at, other.data() + at, sizeof(int32_t)) == 0 ? 1 : 0;
      }
    }
    if (count == 0) continue;
    add_rows(same / count, count, result);
  }
  return result;
}

}  // namespace

Distance distance(const nnapi::Model& model, const Results& expected, const Results& found) {
  Distance result{0, std::numeric_limits<double>::infinity(), 1, 1, 0, false, 0, 0};
  double squares = 0, count = 0, outputs = 0;
  for (size_t output = 0; output < model.outputs.size(); ++output) {
    const nnapi::Operand& operand = model.at(model.outputs[output].operand);
    if (operand.type != OperandCode::TENSOR_FLOAT32) continue;
    Sums sums;
    for (size_t i = 0; i < expected.size(); ++i) {
      const std::vector<float> floats = floats_of(expected[i][output]);
      sums.add(floats, floats_of(found[i][output]), rows_of(model, model.outputs[output], floats.size()));
    }
    squares += sums.noise;
    count += sums.count;
    ++outputs;
    if (sums.noise > 0) result.snr_db = std::min(result.snr_db, -10 * std::log10(sums.noise_share()));
    const double power = std::sqrt(sums.signal * sums.found);
    result.cosine = std::min(result.cosine, power > 0 ? sums.product / power : (sums.noise > 0 ? 0 : 1));
    if (sums.rows > 0) add_rows(sums.same / sums.rows, sums.rows, result);
  }
  if (outputs == 0) return distance_of_integers(model, expected, found);
  if (count > 0) result.rms = std::sqrt(squares / count);
  return result;
}

double rows_of_run(const nnapi::Model& model) {
  double fewest = 0;
  for (const nnapi::Boundary& output : model.outputs) {
    const nnapi::Operand& operand = model.at(output.operand);
    double elements = 1;
    for (const Dim& dim : operand.dims) elements *= static_cast<double>(dim.fixed_value().value_or(0));
    const Rows layout = rows_of(model, output, static_cast<size_t>(elements));
    const bool is_float = operand.type == OperandCode::TENSOR_FLOAT32;
    if (elements == 0 || (is_float && layout.classes < 2)) continue;
    const double rows = is_float ? elements / static_cast<double>(layout.classes) : elements;
    fewest = fewest == 0 ? rows : std::min(fewest, rows);
  }
  return fewest;
}

Interval top1_interval(const Distance& distance) {
  constexpr double kDeviations = 1.959964;  // 95 % of a normal distribution lie within so many
  const double n = distance.rows, z = kDeviations * kDeviations;
  if (n <= 0) return {};
  const double centre = (distance.top1 + z / (2 * n)) / (1 + z / n);
  const double reach = kDeviations / (1 + z / n) * std::sqrt(distance.top1 * (1 - distance.top1) / n + z / (4 * n * n));
  return {std::max(0.0, centre - reach), std::min(1.0, centre + reach)};
}

}  // namespace nnapi_convert::quantise
