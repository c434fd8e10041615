// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lib/format/operation_table.h"
#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/validate.h"
#include "lib/quantise/equalise.h"
#include "lib/quantise/layers_of_pools.h"

namespace nnapi_convert::quantise {
namespace {

using nnapi::Model;
using nnapi::OperandId;
using nnapi::Operation;

// Returns the observations that equalising needs: the smallest and the largest value of each tensor.
Observations observations_of(const Model& model, const Choice& choice) {
  Observations observations;
  observations.histograms.resize(model.operands.size());
  observations.channels.resize(model.operands.size());
  for (size_t i = 0; i < choice.measured.size(); ++i) {
    if (!choice.measured[i]) continue;
    const float values[] = {choice.measured[i]->first, choice.measured[i]->second};
    observations.histograms[i].add(values, 2);
  }
  return observations;
}

class Checking {
 public:
  Checking(const Model& model, const Choice& choice, const nnapi::IntegerRules& rules,
           const std::vector<std::string>& names)
      : model_(model), choice_(choice), rules_(rules), names_(names) {}

  std::string run() const {
    for (size_t i = 0; i < model_.operations.size(); ++i) {
      if (!choice_.assignment.is_integer[i]) continue;
      std::string problem = problem_of_operation(model_.operations[i]);
      if (problem.empty()) problem = problem_of_bias(i);
      if (!problem.empty()) return problem;
    }
    return "";
  }

 private:
  const std::optional<nnapi::Scale>& scale(OperandId id) const {
    return choice_.assignment.scales[static_cast<size_t>(id)];
  }
  const std::string& name(OperandId id) const { return names_[static_cast<size_t>(id)]; }

  std::vector<OperandId> tensors_of(const Operation& operation) const {
    std::vector<OperandId> tensors;
    for (const auto* side : {&operation.inputs, &operation.outputs}) {
      for (const OperandId id : *side) {
        if (is_float_variable(model_.at(id))) tensors.push_back(id);
      }
    }
    return tensors;
  }

  std::string problem_of_operation(const Operation& operation) const {
    const std::string code = nnapi_convert::name_of(operation.code);
    if (!has_integer_form(model_, operation, rules_)) {
      return fmt::format("{} that gives {} has no integer form at feature level {}", code, name(operation.outputs[0]),
                         rules_.feature_level);
    }
    const std::vector<OperandId> tensors = tensors_of(operation);
    for (const OperandId id : tensors) {
      if (!scale(id)) return fmt::format("tensor {} of {} is missing", name(id), code);
    }
    for (const OperandId id : constants_of(operation)) {
      if (!scale(id)) return fmt::format("tensor {} of {} is missing", name(id), code);
    }
    for (const OperandId id : tensors) {
      if (!rules_.ties(operation) || *scale(id) == *scale(tensors[0])) continue;
      return fmt::format("{} needs one scale and zero point for {} and {}, {}, {} and {}, {} found", code,
                         name(tensors[0]), name(id), scale(tensors[0])->scale, scale(tensors[0])->zero_point,
                         scale(id)->scale, scale(id)->zero_point);
    }
    return problem_of_output(operation, code);
  }

  std::string problem_of_bias(size_t number) const {
    if (choice_.bias_changes.empty() || choice_.bias_changes[number].empty()) return "";
    const Operation& operation = model_.operations[number];
    const bool is_weighted = nnapi::form_of(operation.code) == nnapi::IntegerForm::kWeighted;
    const size_t count = is_weighted ? model_.at(operation.inputs[2]).constant()->element_count() : 0;
    if (choice_.bias_changes[number].size() == count) return "";
    return fmt::format("bias_changes of {}: {} numbers found, {} needed", name(operation.outputs[0]),
                       choice_.bias_changes[number].size(), count);
  }

  // Returns an operation's float constants; none for one with weights, as these have scales of their own.
  std::vector<OperandId> constants_of(const Operation& operation) const {
    std::vector<OperandId> constants;
    if (nnapi::form_of(operation.code) == nnapi::IntegerForm::kWeighted) return constants;
    for (const OperandId id : operation.inputs) {
      const nnapi::Operand& operand = model_.at(id);
      if (operand.constant() != nullptr && operand.type == OperandCode::TENSOR_FLOAT32) constants.push_back(id);
    }
    return constants;
  }

  std::string problem_of_output(const Operation& operation, const std::string& code) const {
    const OperandId id = operation.outputs[0];
    if (!is_float_variable(model_.at(id))) return "";
    const auto fixed = nnapi::fixed_scale(operation.code);
    if (fixed && *scale(id) != *fixed) {
      return fmt::format("{}, the result of {}, needs the scale {} and zero point {}, {} and {} found", name(id), code,
                         fixed->scale, fixed->zero_point, scale(id)->scale, scale(id)->zero_point);
    }
    if (!rules_.needs_larger_output(operation)) return "";
    const nnapi::Scale& first = *scale(operation.inputs[0]);
    const nnapi::Scale second = nnapi::form_of(operation.code) == nnapi::IntegerForm::kWeighted
                                    ? filter_scale(model_, operation, first, rules_)
                                    : *scale(operation.inputs[1]);
    const double product = static_cast<double>(first.scale) * static_cast<double>(second.scale);
    if (static_cast<double>(scale(id)->scale) > product) return "";
    return fmt::format("{}, the result of {}, needs a scale above {}, the product of its inputs', {} found", name(id),
                       code, product, scale(id)->scale);
  }

  const Model& model_;
  const Choice& choice_;
  const nnapi::IntegerRules& rules_;
  const std::vector<std::string>& names_;
};

}  // namespace

size_t Choice::pool_layer_count() const {
  return static_cast<size_t>(std::count(pool_layers.begin(), pool_layers.end(), true));
}

Model base_model(const Model& model, const Choice& choice) {
  std::vector<bool> left_out = choice.pool_layers;
  left_out.flip();
  left_out.resize(model.operations.size(), true);
  const Model base = layers_of_pools(model, left_out, true).model;
  if (!choice.is_equalised) return base;
  return equalise(base, observations_of(base, choice), {choice.drops_clipping}).model;
}

Taken take_choice(const Model& model, const Choice& choice, const TakeRequest& request) {
  const Model base = base_model(model, choice);
  Taken result{{}, Checking(base, choice, request.rules, stable_names(model)).run()};
  if (!result.problem.empty()) return result;
  RewriteRequest rewriting{choice.assignment, request.rules, request.integer_inputs, request.integer_outputs};
  if (!choice.bias_changes.empty()) rewriting.bias_changes = &choice.bias_changes;
  result.model = rewrite(base, rewriting).model;
  nnapi::compact(result.model);
  const std::vector<std::string> problems = nnapi::validate(result.model, request.rules.feature_level);
  if (!problems.empty()) result.problem = problems[0];
  return result;
}

std::vector<std::string> stable_names(const Model& model) {
  std::map<std::string, size_t> counts;
  for (const nnapi::Operand& operand : model.operands) ++counts[operand.name];
  std::vector<std::string> names(model.operands.size());
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string& name = model.operands[i].name;
    if (!name.empty() && counts[name] == 1) names[i] = name;
  }
  const auto name_all = [&](const std::vector<OperandId>& ids, size_t number, const char* side) {
    for (size_t i = 0; i < ids.size(); ++i) {
      std::string& name = names[static_cast<size_t>(ids[i])];
      if (!name.empty()) continue;
      name = fmt::format("{}#{}.{}{}", nnapi_convert::name_of(model.operations[number].code), number, side, i);
    }
  };
  for (size_t i = 0; i < model.operations.size(); ++i) name_all(model.operations[i].outputs, i, "output");
  for (size_t i = 0; i < model.operations.size(); ++i) name_all(model.operations[i].inputs, i, "input");
  return names;
}

}  // namespace nnapi_convert::quantise
