// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/device_profile.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/nnapi/signature.h"

namespace nnapi_convert::nnapi {
namespace {

JudgedOperand judged(const char* argument, const Operand& operand) {
  JudgedOperand result{argument, operand.type, false, std::nullopt, std::nullopt};
  result.is_constant = operand.is_constant() && !operand.is_omitted() && operand.subgraph() == nullptr;
  if (is_tensor(operand.type)) {
    result.sizes.emplace();
    for (const Dim& dim : operand.dims) result.sizes->push_back(dim.fixed_value().value_or(kUnknownSize));
  }
  const Dims* ints = operand.ints();
  if (ints != nullptr && ints->size() == 1) result.number = ints->front().fixed_value();
  if (const bool* flag = std::get_if<bool>(&operand.value)) result.number = *flag ? 1 : 0;
  return result;
}

JudgedOperation judged(const Model& model, const Operation& operation, const SignatureInfo* signature) {
  JudgedOperation result{operation.code, {}};
  if (signature == nullptr) return result;
  for (size_t i = 0; i < operation.inputs.size(); ++i) {
    const ArgumentInfo& argument = argument_of_input(*signature, i, operation.inputs.size());
    result.operands.push_back(judged(argument.name, model.at(operation.inputs[i])));
  }
  for (size_t i = 0; i < operation.outputs.size(); ++i) {
    const size_t last = signature->outputs.size() - 1;
    result.operands.push_back(judged(signature->outputs[std::min(i, last)].name, model.at(operation.outputs[i])));
  }
  return result;
}

JudgedOperation judged(const Model& model, const Operation& operation) {
  return judged(model, operation, match_signature(model, operation).signature);
}

// Returns false if a size is not known.
bool has_elements(const JudgedOperand& operand, int64_t least) {
  if (!operand.sizes) return least <= 1;
  int64_t count = 1;
  for (const int64_t size : *operand.sizes) {
    if (size == kUnknownSize || __builtin_mul_overflow(count, size, &count)) return false;
  }
  return count >= least;
}

void add_predecessors(const Model& model, const Operation& operation, JudgedOperation& described) {
  const auto reads = [&](OperandId operand) {
    return std::find(operation.inputs.begin(), operation.inputs.end(), operand) != operation.inputs.end();
  };
  described.reads_input = std::any_of(model.inputs.begin(), model.inputs.end(),
                                      [&](const Boundary& input) { return reads(input.operand); });
  for (const Operation& each : model.operations) {
    if (std::any_of(each.outputs.begin(), each.outputs.end(), reads)) described.after.insert(each.code);
  }
}

// Returns the names of the operation's results. For a result without a name, returns the first named operands behind
// it.
std::vector<std::string> values_after(const Model& model, const Operation& operation) {
  std::vector<std::string> names;
  std::set<OperandId> seen(operation.outputs.begin(), operation.outputs.end());
  std::vector<OperandId> open(operation.outputs.begin(), operation.outputs.end());
  while (!open.empty()) {
    const OperandId operand = open.back();
    open.pop_back();
    if (!model.at(operand).name.empty()) {
      names.push_back(model.at(operand).name);
      continue;
    }
    for (const Operation& each : model.operations) {
      if (std::find(each.inputs.begin(), each.inputs.end(), operand) == each.inputs.end()) continue;
      for (const OperandId output : each.outputs) {
        if (seen.insert(output).second) open.push_back(output);
      }
    }
  }
  return names;
}

DeviceRefusal refused(const Model& model, const Operation& operation, std::string reason) {
  return {operation.code, operation.source, std::move(reason), values_after(model, operation)};
}

bool holds(const DriverRule& rule, const JudgedOperation& judged) {
  const auto is_large = [&](const JudgedOperand& each) { return has_elements(each, *rule.elements); };
  if (!rule.operation.holds(judged)) return false;
  return !rule.elements || std::any_of(judged.operands.begin(), judged.operands.end(), is_large);
}

}  // namespace

std::optional<PaddingStyle> padding_style(const Model& model, const Operation& operation) {
  return judged(model, operation).padding_style();
}

bool runs_in_nchw(const Model& model, const Operation& operation) {
  return judged(model, operation).is_nchw();
}

bool DeviceProfile::may_take(OperationCode code) const {
  const auto names = [code](const DeviceRule& rule) { return rule.operations.empty() || rule.operations.count(code); };
  const auto refuses = [&](const DeviceRule& rule) { return rule.is_unconditional() && names(rule); };
  const bool is_faulty = std::any_of(faults_.begin(), faults_.end(),
                                     [&](const DriverRule& rule) { return !rule.elements && refuses(rule.operation); });
  return !is_faulty && std::none_of(rules_.refuses.begin(), rules_.refuses.end(), refuses) &&
         (!rules_.accepts || std::any_of(rules_.accepts->begin(), rules_.accepts->end(), names));
}

std::string DeviceProfile::refusal(const Model& model, const Operation& operation) const {
  const SignatureMatch match = match_signature(model, operation);
  if (match.signature == nullptr) return match.problem;
  if (match.feature_level > rules_.feature_level) {
    return fmt::format("the device has feature level {}, {} needed for these arguments", rules_.feature_level,
                       match.feature_level);
  }
  JudgedOperation described = judged(model, operation, match.signature);
  const bool asks_predecessors = std::any_of(faults_.begin(), faults_.end(),
                                             [](const DriverRule& rule) { return rule.operation.asks_predecessors(); });
  if (asks_predecessors || rules_.asks_predecessors()) add_predecessors(model, operation, described);
  for (const DriverRule& rule : faults_) {
    if (holds(rule, described)) return rule.operation.reason;
  }
  return rules_.refusal(described);
}

std::vector<DeviceRefusal> DeviceProfile::refusals(const Model& model) const {
  std::vector<DeviceRefusal> result;
  for (const Model* each : with_subgraphs(model)) {
    for (const Operation& operation : each->operations) {
      std::string reason = refusal(*each, operation);
      if (!reason.empty()) result.push_back(refused(*each, operation, std::move(reason)));
    }
  }
  return result;
}

std::vector<DeviceRefusal> DeviceProfile::refusals_in_any_form(const Model& model, const IntegerRules& rules) const {
  std::vector<DeviceRefusal> result;
  std::optional<Model> integers;
  const auto takes_integers = [&](const Operation& operation) {
    if (!has_integer_form(model, operation, rules)) return false;
    if (!integers) integers = typed_as_integers(model, rules);
    return refusal(*integers, operation).empty();
  };
  for (const Model* each : with_subgraphs(model)) {
    for (const Operation& operation : each->operations) {
      std::string reason = refusal(*each, operation);
      if (reason.empty() || (each == &model && takes_integers(operation))) continue;
      result.push_back(refused(*each, operation, std::move(reason)));
    }
  }
  return result;
}

}  // namespace nnapi_convert::nnapi
