// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/half_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "lib/format/operation_table.h"
#include "lib/nnapi/integer_forms.h"
#include "lib/nnapi/signature.h"
#include "lib/quantise/observe.h"

namespace nnapi_convert::quantise {
namespace {

using nnapi::Constant;
using nnapi::Model;
using nnapi::OperandId;
using nnapi::Operation;

constexpr double kLargestHalf = 65504;
constexpr double kSmallestNormalHalf = 6.103515625e-5;
// The largest value on the samples that needs no factor: other inputs may give twice as much.
constexpr double kMostSeen = kLargestHalf / 2;
// The largest value after a division: divided tensors get more room.
constexpr double kMostAfter = kLargestHalf / 16;

// True for operations of one tensor with f(a x) = a f(x) for a > 0.
bool keeps_factor(OperationCode code) {
  return has_trait(code, OperationTrait::kKeepsFactor);
}

// True for operations of several tensors that keep a factor which all of these have.
bool joins(OperationCode code) {
  return has_trait(code, OperationTrait::kJoinsFactors);
}

// A reason why a group of tensors can't be divided.
struct NoFactor {
  std::string reason;
};

// Tensors that have to be divided together, and the constants that change with them.
struct Group {
  std::set<OperandId> tensors;
  std::map<std::pair<size_t, size_t>, int> constants;  // operation and input: the power of the factor
};

class GroupSearch {
 public:
  GroupSearch(const Model& model, const std::vector<double>& largest) : model_(model), largest_(largest) {
    for (const nnapi::Boundary& input : model.inputs) ends_.insert(input.operand);
    for (const nnapi::Boundary& output : model.outputs) ends_.insert(output.operand);
  }

  // Returns the tensors that have to be divided together with `first`. Throws NoFactor.
  Group group_of(OperandId first) {
    group_ = {};
    left_ = {};
    add(first);
    while (!left_.empty()) {
      const OperandId id = left_.back();
      left_.pop_back();
      for (size_t i = 0; i < model_.operations.size(); ++i) {
        const Operation& operation = model_.operations[i];
        if (operation.outputs[0] == id) {
          take_maker(i);
        } else if (std::count(operation.outputs.begin(), operation.outputs.end(), id) != 0) {
          throw NoFactor{text_of(operation) + " makes several tensors"};
        }
        for (size_t input = 0; input < operation.inputs.size(); ++input) {
          if (operation.inputs[input] == id) take_reader(i, input);
        }
      }
    }
    check_products();
    return std::move(group_);
  }

 private:
  bool has(OperandId id) const { return group_.tensors.count(id) != 0; }

  void add(OperandId id) {
    if (has(id)) return;
    if (!is_float_variable(model_.at(id))) throw NoFactor{"a tensor that is not float32 is computed from it"};
    if (ends_.count(id) != 0) throw NoFactor{"it reaches an input or an output of the model"};
    group_.tensors.insert(id);
    left_.push_back(id);
  }

  // Returns whether `input` of the operation is a float constant that a factor can be folded into.
  bool is_constant(const Operation& operation, size_t input) const {
    const nnapi::Operand& operand = model_.at(operation.inputs[input]);
    return operand.constant() != nullptr && operand.type == OperandCode::TENSOR_FLOAT32;
  }

  bool is_layer(const Operation& operation) const {
    return nnapi::form_of(operation.code) == nnapi::IntegerForm::kWeighted && is_constant(operation, 1) &&
           is_constant(operation, 2);
  }

  void check_activation(const Operation& operation) const {
    const nnapi::SignatureMatch match = nnapi::match_signature(model_, operation);
    for (size_t i = 0; match.signature != nullptr && i < operation.inputs.size(); ++i) {
      const ArgumentInfo& argument = nnapi::argument_of_input(*match.signature, i, operation.inputs.size());
      if (argument.role != ArgumentRole::kActivation) continue;
      const Dims* value = model_.at(operation.inputs[i]).ints();
      const auto code = value != nullptr ? static_cast<FuseCode>(value->at(0).value()) : FuseCode::RELU6;
      if (code == FuseCode::NONE || code == FuseCode::RELU) return;
      throw NoFactor{text_of(operation) + " cuts values off at a fixed height"};
    }
  }

  void set_power(size_t number, size_t input, int power) { group_.constants[{number, input}] += power; }

  // Takes in the operation that makes a tensor of the group.
  void take_maker(size_t number) {
    const Operation& operation = model_.operations[number];
    check_activation(operation);
    if (is_layer(operation)) {
      set_power(number, 1, -1);
      set_power(number, 2, -1);
    } else if (keeps_factor(operation.code)) {
      add(operation.inputs[0]);
    } else if (joins(operation.code)) {
      for (size_t input = 0; input < operation.inputs.size(); ++input) {
        if (is_float_variable(model_.at(operation.inputs[input]))) add(operation.inputs[input]);
        if (is_constant(operation, input)) set_power(number, input, -1);
      }
    } else if (operation.code == OperationCode::MUL) {
      take_product(number);
    } else if (operation.code == OperationCode::DIV) {
      add(operation.inputs[0]);
    } else {
      throw NoFactor{text_of(operation) + " makes it, which keeps no factor"};
    }
  }

  // Takes in a product whose result is in the group: one of its factors is divided.
  void take_product(size_t number) {
    const Operation& operation = model_.operations[number];
    const OperandId a = operation.inputs[0], b = operation.inputs[1];
    if (is_constant(operation, 0) || is_constant(operation, 1)) {
      if (has(a) || has(b)) return;  // the input has the factor already
      set_power(number, is_constant(operation, 0) ? 0 : 1, -1);
      sources_.insert(number);
      return;
    }
    if (has(a) || has(b)) return;
    const bool is_first =
        !is_float_variable(model_.at(b)) || largest_[static_cast<size_t>(a)] >= largest_[static_cast<size_t>(b)];
    add(is_first ? a : b);
  }

  void take_reader(size_t number, size_t input) {
    const Operation& operation = model_.operations[number];
    if (is_layer(operation)) {
      if (input != 0) throw NoFactor{text_of(operation) + " takes it as weights"};
      set_power(number, 1, 1);
      return;
    }
    const bool is_product = operation.code == OperationCode::MUL;
    if (is_product && sources_.count(number) == 0 && (is_constant(operation, 0) || is_constant(operation, 1)) &&
        !has(operation.outputs[0])) {
      set_power(number, is_constant(operation, 0) ? 0 : 1, 1);
      return;
    }
    const bool is_first = input == 0 && (keeps_factor(operation.code) || operation.code == OperationCode::DIV);
    if (!is_first && !joins(operation.code) && !is_product) {
      throw NoFactor{text_of(operation) + " reads it, which keeps no factor"};
    }
    check_activation(operation);
    add(operation.outputs[0]);
  }

  void check_products() const {
    for (const Operation& operation : model_.operations) {
      if (operation.code != OperationCode::MUL) continue;
      const int factors = (has(operation.inputs[0]) ? 1 : 0) + (has(operation.inputs[1]) ? 1 : 0);
      if (factors == 2) throw NoFactor{text_of(operation) + " multiplies two of its kind"};
      const bool is_folded = is_constant(operation, 0) || is_constant(operation, 1);
      // A constant that took the factor out must not meet a result that needs it.
      if (!is_folded || !has(operation.outputs[0])) continue;
      const size_t number = static_cast<size_t>(&operation - model_.operations.data());
      const bool has_power = group_.constants.count({number, 0}) != 0 || group_.constants.count({number, 1}) != 0;
      if (has_power == (factors == 1)) throw NoFactor{text_of(operation) + " lies in a circle of such tensors"};
    }
  }

  const Model& model_;
  const std::vector<double>& largest_;
  std::set<OperandId> ends_;
  Group group_;
  std::vector<OperandId> left_;
  std::set<size_t> sources_;  // products that make the factor
};

double largest_number(const std::vector<float>& values) {
  double largest = 0;
  for (const float value : values) largest = std::max(largest, std::abs(static_cast<double>(value)));
  return largest;
}

class Fitting {
 public:
  Fitting(const Model& model, const Observations& observations) {
    result_.model = model;
    for (const Histogram& histogram : observations.histograms) {
      const bool is_finite = histogram.not_finite() == 0;
      const double most = histogram.empty() ? 0
                                            : std::max(std::abs(static_cast<double>(histogram.lowest())),
                                                       std::abs(static_cast<double>(histogram.highest())));
      largest_.push_back(is_finite ? most : 0);  // an infinite value is infinite in float32, too
    }
    largest_.resize(model.operands.size(), 0);
  }

  HalfRange run() {
    std::set<OperandId> done;
    const size_t operations = result_.model.operations.size();
    for (size_t i = 0; i < operations; ++i) {
      for (const OperandId id : result_.model.operations[i].outputs) fit(id, i, done);
    }
    for (const nnapi::Boundary& input : result_.model.inputs) {
      if (largest_[static_cast<size_t>(input.operand)] > kMostSeen) {
        result_.beyond.push_back(
            fmt::format("an input of NNAPI has values up to {:.3g}", largest_[static_cast<size_t>(input.operand)]));
        add_values(input.operand);
      }
    }
    return std::move(result_);
  }

 private:
  void fit(OperandId id, size_t maker, std::set<OperandId>& done) {
    if (largest_[static_cast<size_t>(id)] <= kMostSeen || done.count(id) != 0) return;
    const std::string where = fmt::format("the result of {} has values up to {:.3g}",
                                          text_of(result_.model.operations[maker]), largest_[static_cast<size_t>(id)]);
    try {
      const Group group = GroupSearch(result_.model, largest_).group_of(id);
      const int power = power_for(group);
      apply(group, power);
      done.insert(group.tensors.begin(), group.tensors.end());
      result_.rescaled.push_back(fmt::format("{}: divided by 2^{}, with {} other tensor{}", where, power,
                                             group.tensors.size() - 1, group.tensors.size() == 2 ? "" : "s"));
    } catch (const NoFactor& problem) {
      done.insert(id);
      result_.beyond.push_back(where + ": " + problem.reason);
      add_values(id);
    }
  }

  void add_values(OperandId id) {
    for (const Operation& operation : result_.model.operations) {
      const bool is_near = std::count(operation.inputs.begin(), operation.inputs.end(), id) != 0 ||
                           std::count(operation.outputs.begin(), operation.outputs.end(), id) != 0;
      if (!is_near) continue;
      for (const OperandId made : operation.outputs) {
        const std::string& name = result_.model.at(made).name;
        if (!name.empty()) result_.values.insert(name);
      }
    }
  }

  int power_for(const Group& group) const {
    double most = 0;
    for (const OperandId id : group.tensors) most = std::max(most, largest_[static_cast<size_t>(id)]);
    return static_cast<int>(std::ceil(std::log2(most / kMostAfter)));
  }

  std::vector<float> values_of(const std::pair<size_t, size_t>& place) const {
    return result_.model.at(result_.model.operations[place.first].inputs[place.second]).constant()->floats();
  }

  // Multiplies the group's constants by their powers of two. Throws NoFactor if constants leave float16's range.
  void apply(const Group& group, int power) {
    std::map<std::pair<size_t, size_t>, std::vector<float>> changed;
    for (const auto& [place, sign] : group.constants) {
      if (sign == 0) continue;
      std::vector<float> values = values_of(place);
      const double before = largest_number(values);
      for (float& value : values) value = std::ldexp(value, sign * power);
      const double after = largest_number(values);
      const bool is_too_small = after > 0 && after < kSmallestNormalHalf && before >= kSmallestNormalHalf;
      if (after > kLargestHalf || is_too_small) {
        throw NoFactor{fmt::format("constants of {} would have {:.3g} as their largest number",
                                   text_of(result_.model.operations[place.first]), after)};
      }
      changed.emplace(place, std::move(values));
    }
    for (auto& [place, values] : changed) set(place, std::move(values));
    for (const OperandId id : group.tensors)
      largest_[static_cast<size_t>(id)] = std::ldexp(largest_[static_cast<size_t>(id)], -power);
  }

  // Gives the operation a constant of its own: other operations may share the old one.
  void set(const std::pair<size_t, size_t>& place, std::vector<float> values) {
    OperandId& id = result_.model.operations[place.first].inputs[place.second];
    nnapi::Operand operand = result_.model.at(id);
    operand.value = Constant::of_floats(std::move(values), operand.constant()->shape());
    id = result_.model.add(std::move(operand));
  }

  HalfRange result_;
  std::vector<double> largest_;  // by operand: the largest absolute value on the samples
};

}  // namespace

HalfRange fit_half_range(const HalfRangeRequest& request, const std::vector<KeptSample>& samples) {
  const Observations observations = observe({request.model, request.arguments, request.feature_level}, samples);
  return Fitting(request.model, observations).run();
}

}  // namespace nnapi_convert::quantise
