// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/assign.h"

#include <algorithm>
#include <cmath>

#include "lib/quantise/groups.h"
#include "lib/quantise/index_arithmetic.h"
#include "lib/quantise/integer_part.h"

namespace nnapi_convert::quantise {
namespace {

using nnapi::Model;
using nnapi::Operand;
using nnapi::OperandId;
using nnapi::Operation;

constexpr double kLargestBias = 1 << 30;  // in steps of its scale; an accumulator of 32 bits has room for the products
constexpr int kSymmetricLevels = 127;

double largest_of(const std::vector<float>& values) {
  double largest = 0;
  for (const float value : values) largest = std::max(largest, std::abs(static_cast<double>(value)));
  return largest;
}

// Returns the squared error of rounding the values to the scale.
double rounding_error(const std::vector<float>& values, const nnapi::Scale& scale) {
  const double step = static_cast<double>(scale.scale);
  double error = 0;
  for (const float value : values) {
    const double stored = std::round(static_cast<double>(value) / step) + scale.zero_point;
    const double difference =
        (std::min(255.0, std::max(0.0, stored)) - scale.zero_point) * step - static_cast<double>(value);
    error += difference * difference;
  }
  return error;
}

nnapi::Scale symmetric_scale(const std::vector<float>& values) {
  const double largest = largest_of(values);
  // A filter without weights: any scale holds zeros.
  return {static_cast<float>((largest > 1e-30 ? largest : 1.0) / kSymmetricLevels), 128};
}

// Returns the scale of weights with the least rounding error. A symmetric scale may be nearer than one that just covers
// them: weights of models that were trained for integers lie on its grid.
nnapi::Scale best_scale(const std::vector<float>& values) {
  const double largest = largest_of(values);
  nnapi::Scale best = range_of(values).scale();
  if (!(largest > 1e-30)) return best;
  for (const double levels : {127.0, 127.5, 128.0}) {
    const nnapi::Scale symmetric{static_cast<float>(largest / levels), 128};
    if (rounding_error(values, symmetric) < rounding_error(values, best)) best = symmetric;
  }
  return best;
}

// True if the scale reaches the values, up to a few steps.
bool fits(const Histogram& values, const nnapi::Scale& scale) {
  constexpr double kSlack = 4;
  const auto step = static_cast<double>(scale.scale);
  return static_cast<double>(values.lowest()) >= (-scale.zero_point - kSlack) * step &&
         static_cast<double>(values.highest()) <= (255 - scale.zero_point + kSlack) * step;
}

// True if rounding to the scale keeps most of the values' power. Steps of 1/256 keep hardly any of a softmax over
// hundreds of numbers.
bool is_kept(const Histogram& values, const nnapi::Scale& scale) {
  constexpr double kLeastSnr = 15;
  const auto step = static_cast<double>(scale.scale);
  double power = 0, noise = 0;
  for (size_t bin = 0; bin < values.bins().size(); ++bin) {
    const double value = values.centre(bin), error = value - std::round(value / step) * step;
    const auto count = static_cast<double>(values.bins()[bin]);
    power += count * value * value;
    noise += count * error * error;
  }
  return noise <= power * std::pow(10, -kLeastSnr / 10);
}

class Assigning {
 public:
  explicit Assigning(const AssignRequest& request)
      : request_(request), model_(request.model), groups_(request.model.operands.size()) {
    const std::vector<bool> of_indices = index_arithmetic(model_);
    for (size_t i = 0; i < model_.operations.size(); ++i) {
      const bool is_kept = of_indices[i] || (i < request.kept_float.size() && request.kept_float[i]);
      result_.is_integer.push_back(!is_kept && has_integer_form(model_, model_.operations[i], request.rules));
    }
  }

  // Assigns scales; each round leaves one more operation in float.
  Assignment run() {
    do {
      choose_integer_part(model_, request_.integer_outputs, result_.is_integer);
    } while (!try_scales());
    return std::move(result_);
  }

 private:
  bool try_scales() {
    result_.scales.assign(model_.operands.size(), std::nullopt);
    result_.ranges.assign(model_.operands.size(), std::nullopt);
    make_groups();
    result_.groups.clear();
    for (size_t i = 0; i < model_.operands.size(); ++i) {
      result_.groups.push_back(groups_.find(static_cast<OperandId>(i)));
    }
    return fix_scales() && measure_scales() && scale_constants() && enlarge_outputs();
  }

  template <typename Visit>
  bool for_each_integer(const Visit& visit) {
    for (size_t i = 0; i < model_.operations.size(); ++i) {
      if (!result_.is_integer[i]) continue;
      if (visit(model_.operations[i])) continue;
      result_.is_integer[i] = false;
      return false;
    }
    return true;
  }

  void make_groups() {
    groups_ = Groups(model_.operands.size());
    for_each_integer([&](const Operation& operation) {
      const std::vector<OperandId> variables = float_variables(model_, operation);
      if (request_.rules.ties(operation)) {
        for (const OperandId id : variables) groups_.join(id, variables[0]);
      }
      return true;
    });
  }

  // Sets the scales that operations fix. False if a tensor would need two scales; the operation is left in float.
  bool fix_scales() {
    fixed_.assign(model_.operands.size(), std::nullopt);
    return for_each_integer([&](const Operation& operation) {
      const auto fixed = nnapi::fixed_scale(operation.code);
      if (!fixed) return true;
      std::optional<nnapi::Scale>& scale = fixed_[groups_.find(operation.outputs[0])];
      if (scale && *scale != *fixed) return false;
      scale = fixed;
      return true;
    });
  }

  bool measure_scales() {
    std::vector<Histogram> merged(model_.operands.size());
    std::vector<std::optional<Range>> given(model_.operands.size());
    std::vector<bool> is_used(model_.operands.size(), false);
    for_each_integer([&](const Operation& operation) {
      for (const OperandId id : float_variables(model_, operation)) is_used[static_cast<size_t>(id)] = true;
      return true;
    });
    std::vector<bool> is_moved(model_.operands.size(), false);
    for_each_integer([&](const Operation& operation) {
      for (const OperandId id : operation.outputs)
        is_moved[static_cast<size_t>(id)] = moves_variable(model_, operation);
      return true;
    });
    for (size_t i = 0; i < model_.operands.size(); ++i) {
      if (!is_used[i]) continue;
      const size_t group = groups_.find(static_cast<OperandId>(i));
      if (!is_moved[i]) merged[group].add(request_.observations.histograms[i]);
      if (i < request_.given.size() && request_.given[i]) given[group] = request_.given[i];
    }
    if (!have_values(merged, given)) return false;
    ranges_.assign(model_.operands.size(), Range());
    for (size_t i = 0; i < model_.operands.size(); ++i) {
      if (!is_used[i] || groups_.find(static_cast<OperandId>(i)) != i) continue;
      ranges_[i] = given[i] ? *given[i] : range_of(merged[i], request_.method);
    }
    for (size_t i = 0; i < model_.operands.size(); ++i) {
      if (!is_used[i]) continue;
      const size_t group = groups_.find(static_cast<OperandId>(i));
      result_.scales[i] = scale_of_group(group);
      if (!fixed_[group]) result_.ranges[i] = ranges_[group];
    }
    return true;
  }

  // False if a tensor has no scale: it was not measured, or the scale that its operation fixes clips values of the
  // tensors that share it, or rounds most of their power away. The operation is left in float.
  bool have_values(const std::vector<Histogram>& merged, const std::vector<std::optional<Range>>& given) {
    return for_each_integer([&](const Operation& operation) {
      for (const OperandId id : float_variables(model_, operation)) {
        const size_t group = groups_.find(id);
        if (!fixed_[group] && !given[group] && merged[group].empty()) return false;
      }
      if (!nnapi::fixed_scale(operation.code)) return true;
      const nnapi::Scale& scale = *fixed_[groups_.find(operation.outputs[0])];
      const Histogram& values = merged[groups_.find(operation.outputs[0])];
      return values.empty() || (fits(values, scale) && (has_to_be_integer(operation) || is_kept(values, scale)));
    });
  }

  // True if the operation can't be left in float: no operation can turn floats into integers, or the caller wants
  // integers of it.
  bool has_to_be_integer(const Operation& operation) const {
    const auto is_result = [&](const nnapi::Boundary& output) { return output.operand == operation.outputs[0]; };
    const bool is_output = std::any_of(model_.outputs.begin(), model_.outputs.end(), is_result);
    return !request_.rules.may_mix_floats() || (request_.integer_outputs && is_output);
  }

  nnapi::Scale scale_of_group(size_t group) const { return fixed_[group] ? *fixed_[group] : ranges_[group].scale(); }

  bool scale_constants() {
    return for_each_integer([&](const Operation& operation) {
      if (nnapi::form_of(operation.code) == nnapi::IntegerForm::kWeighted) return true;
      for (const OperandId id : operation.inputs) {
        const Operand& operand = model_.at(id);
        if (operand.constant() == nullptr || operand.type != OperandCode::TENSOR_FLOAT32) continue;
        result_.scales[static_cast<size_t>(id)] = range_of(operand.constant()->floats()).scale();
      }
      return true;
    });
  }

  double product_of_inputs(const Operation& operation) const {
    const nnapi::Scale& first = *result_.scales[static_cast<size_t>(operation.inputs[0])];
    if (nnapi::form_of(operation.code) != nnapi::IntegerForm::kWeighted) {
      return static_cast<double>(first.scale) *
             static_cast<double>(result_.scales[static_cast<size_t>(operation.inputs[1])]->scale);
    }
    return static_cast<double>(first.scale) *
           static_cast<double>(filter_scale(model_, operation, first, request_.rules, request_.cache).scale);
  }

  // Enlarges outputs' scales that have to be larger than the product of the inputs' scales. An output's scale may be an
  // input's, too, so that others grow in later rounds.
  bool enlarge_outputs() {
    constexpr int kRounds = 100;
    for (int round = 0; round < kRounds; ++round) {
      bool is_changed = false;
      const bool is_possible = for_each_integer([&](const Operation& operation) {
        if (!request_.rules.needs_larger_output(operation)) return true;
        const double product = product_of_inputs(operation);
        const auto output = static_cast<size_t>(operation.outputs[0]);
        if (static_cast<double>(result_.scales[output]->scale) > product) return true;
        const size_t group = groups_.find(operation.outputs[0]);
        if (fixed_[group] || round == kRounds - 1) return false;
        enlarge(group, product * 1.0001);
        is_changed = true;
        return true;
      });
      if (!is_possible) return false;
      if (!is_changed) return true;
    }
    return false;
  }

  void enlarge(size_t group, double scale) {
    Range& range = ranges_[group];
    const double width = range.highest - range.lowest;
    const double factor = width > 0 ? scale * 255 / width : 0;
    range = width > 0 ? Range{range.lowest * factor, range.highest * factor} : Range{0, scale * 255};
    for (size_t i = 0; i < result_.scales.size(); ++i) {
      if (result_.scales[i] && !model_.operands[i].is_constant() && groups_.find(static_cast<OperandId>(i)) == group) {
        result_.scales[i] = range.scale();
      }
    }
  }

  const AssignRequest& request_;
  const Model& model_;
  Groups groups_;
  std::vector<std::optional<nnapi::Scale>> fixed_;
  std::vector<Range> ranges_;  // by group
  Assignment result_;
};

}  // namespace

size_t Assignment::integer_count() const {
  return static_cast<size_t>(std::count(is_integer.begin(), is_integer.end(), true));
}

Assignment assign(const AssignRequest& request) {
  return Assigning(request).run();
}

nnapi::Scale WeightCache::scale(const Model& model, OperandId filter, bool is_symmetric) {
  const auto found = scales_.find({filter, is_symmetric});
  if (found != scales_.end()) return found->second;
  const std::vector<float> values = model.at(filter).constant()->floats();
  return scales_[{filter, is_symmetric}] = is_symmetric ? symmetric_scale(values) : best_scale(values);
}

nnapi::Scale filter_scale(const Model& model, const Operation& operation, const nnapi::Scale& input,
                          const nnapi::IntegerRules& rules, WeightCache* cache) {
  WeightCache own;
  const nnapi::Scale scale =
      (cache != nullptr ? *cache : own).scale(model, operation.inputs[1], rules.symmetric_weights);
  const double bias = largest_of(model.at(operation.inputs[2]).constant()->floats());
  const double least = bias / (kLargestBias * static_cast<double>(input.scale));
  return static_cast<double>(scale.scale) < least ? nnapi::Scale{static_cast<float>(least), 128} : scale;
}

std::vector<float> filter_scales(const Model& model, const Operation& operation, const nnapi::Scale& input) {
  const nnapi::Constant& filter = *model.at(operation.inputs[1]).constant();
  const std::vector<float> values = filter.floats();
  const std::vector<float> bias = model.at(operation.inputs[2]).constant()->floats();
  const size_t axis = *nnapi::channel_axis(operation.code);
  const auto channels = static_cast<size_t>(filter.shape()[axis]);
  size_t inner = 1;
  for (size_t i = axis + 1; i < filter.shape().size(); ++i) inner *= static_cast<size_t>(filter.shape()[i]);
  std::vector<double> largest(channels, 0);
  for (size_t i = 0; i < values.size(); ++i) {
    double& of_channel = largest[i / inner % channels];
    of_channel = std::max(of_channel, std::abs(static_cast<double>(values[i])));
  }
  std::vector<float> scales;
  for (size_t channel = 0; channel < channels; ++channel) {
    const double least =
        std::abs(static_cast<double>(bias[channel])) / (kLargestBias * static_cast<double>(input.scale));
    const double scale = std::max(largest[channel] / kSymmetricLevels, least);
    // A channel without weights: any scale holds zeros.
    scales.push_back(scale > 1e-30 ? static_cast<float>(scale) : 1.0f / kSymmetricLevels);
  }
  return scales;
}

}  // namespace nnapi_convert::quantise
