// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/noise.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>

namespace nnapi_convert::quantise {
namespace {

template <typename T>
T element(const Bytes& bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
  return value;
}

// Returns the power of the error, over the elements for which both are finite.
double power_of_error(const Bytes& expected, const Bytes& found) {
  double sum = 0;
  for (size_t i = 0; i < expected.size() / sizeof(float); ++i) {
    const double error =
        static_cast<double>(element<float>(expected, i)) - static_cast<double>(element<float>(found, i));
    if (std::isfinite(error)) sum += error * error;
  }
  return sum;
}

double power(const Bytes& bytes) {
  return power_of_error(bytes, Bytes(bytes.size()));
}

double others(const Bytes& expected, const Bytes& found) {
  double count = 0;
  for (size_t i = 0; i < expected.size() / sizeof(int32_t); ++i) {
    count += element<int32_t>(expected, i) == element<int32_t>(found, i) ? 0 : 1;
  }
  return count;
}

// Quantiles of the normal distribution, and of Student's t with one to four degrees of freedom.
struct Quantiles {
  double normal, few[4];
};

Quantiles quantiles_of(Chance chance) {
  if (chance == Chance::kOneIn40) return {1.959964, {12.7062, 4.3027, 3.1824, 2.7764}};
  return {3.090232, {318.309, 22.327, 10.215, 7.173}};
}

// Returns the bound that the t statistic of `count` differences passes with the probability `chance` if there is no
// true difference: Student's t, of five and more degrees of freedom by Cornish and Fisher's expansion.
double t_bound(size_t count, Chance chance) {
  if (count < 2) return std::numeric_limits<double>::infinity();
  const Quantiles quantiles = quantiles_of(chance);
  const size_t degrees = count - 1;
  if (degrees <= std::size(quantiles.few)) return quantiles.few[degrees - 1];
  const auto freedom = static_cast<double>(degrees);
  const double z = quantiles.normal, cube = z * z * z, fifth = cube * z * z;
  return z + (cube + z) / (4 * freedom) + (5 * fifth + 16 * cube + 3 * z) / (96 * freedom * freedom);
}

}  // namespace

double total(const Noises& noises) {
  return total(noises, noises.size());
}

double total(const Noises& noises, size_t most) {
  const auto count = static_cast<std::ptrdiff_t>(std::min(most, noises.size()));
  return std::accumulate(noises.begin(), noises.begin() + count, 0.0);
}

NoiseMeter::NoiseMeter(const nnapi::Model& model, const Results& expected) : expected_(expected) {
  const auto add = [&](OperandCode type) {
    for (size_t i = 0; i < model.outputs.size(); ++i) {
      if (model.at(model.outputs[i].operand).type != type) continue;
      double whole = 0;
      const bool is_float = type == OperandCode::TENSOR_FLOAT32;
      for (const std::vector<Bytes>& results : expected) {
        whole += is_float ? power(results[i]) : static_cast<double>(results[i].size() / sizeof(int32_t));
      }
      outputs_.push_back({i, is_float, whole});
    }
  };
  add(OperandCode::TENSOR_FLOAT32);
  if (outputs_.empty()) add(OperandCode::TENSOR_INT32);
}

Noises NoiseMeter::noises(const Results& found) const {
  Noises noises(found.size());
  for (const Output& output : outputs_) {
    for (size_t i = 0; i < found.size(); ++i) {
      const Bytes &one = expected_[i][output.index], &other = found[i][output.index];
      const double error = output.is_float ? power_of_error(one, other) : others(one, other);
      // A silent output can lose nothing.
      const double share =
          output.whole > 0 ? error / output.whole : (error > 0 ? 1.0 / static_cast<double>(found.size()) : 0);
      noises[i] += share / static_cast<double>(outputs_.size());
    }
  }
  return noises;
}

bool is_nearer_beyond_chance(const Noises& noises, const Noises& than, Chance chance) {
  const auto count = static_cast<double>(noises.size());
  double mean = 0, squares = 0;
  for (size_t i = 0; i < noises.size(); ++i) mean += (than[i] - noises[i]) / count;
  for (size_t i = 0; i < noises.size(); ++i) {
    const double apart = than[i] - noises[i] - mean;
    squares += apart * apart;
  }
  return noises.size() > 1 && mean > 0 &&
         mean * std::sqrt(count * (count - 1)) >= t_bound(noises.size(), chance) * std::sqrt(squares);
}

}  // namespace nnapi_convert::quantise
