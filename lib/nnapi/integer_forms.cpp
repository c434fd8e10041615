// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/integer_forms.h"

#include <fmt/format.h>

#include "lib/format/operation_table.h"
#include "lib/nnapi/signature.h"

namespace nnapi_convert::nnapi {
namespace {

constexpr size_t kFilter = 1, kBias = 2;

bool is_float_constant(const Operand& operand) {
  return operand.constant() != nullptr && operand.type == OperandCode::TENSOR_FLOAT32;
}

// Returns an input's operand as it would be in the operation's integer form.
Operand integer_operand(const Operation& operation, size_t input, Operand operand, const IntegerRules& rules) {
  if (operand.type == OperandCode::FLOAT32 && operation.code == OperationCode::PAD_V2) {
    operand.type = OperandCode::INT32;
    operand.value = Dims{0};
  }
  if (operand.type != OperandCode::TENSOR_FLOAT32) return operand;
  operand.type = OperandCode::TENSOR_QUANT8_ASYMM;
  operand.scale = 1;
  if (form_of(operation.code) != IntegerForm::kWeighted) return operand;
  if (input == kFilter && rules.per_channel && channel_axis(operation.code)) {
    operand.type = OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL;
    operand.scale = 0;
  }
  if (input == kBias) operand.type = OperandCode::TENSOR_INT32;
  return operand;
}

Operand integer_result(Operand operand) {
  if (operand.type == OperandCode::TENSOR_FLOAT32) operand.type = OperandCode::TENSOR_QUANT8_ASYMM;
  return operand;
}

}  // namespace

std::string text_of(const Operation& operation) {
  const std::string name = name_of(operation.code);
  return operation.source.empty() ? name : fmt::format("{} (at {})", name, operation.source);
}

std::optional<Scale> fixed_scale(OperationCode code) {
  const FixedScale fixed = find_operation(code)->fixed_scale;
  if (fixed.denominator == 0) return std::nullopt;
  return Scale{1.0f / static_cast<float>(fixed.denominator), fixed.zero_point};
}

bool moves_variable(const Model& model, const Operation& operation) {
  return only_moves(operation.code) && !model.at(operation.inputs[0]).is_constant();
}

bool IntegerRules::ties(const Operation& operation) const {
  if (operation.code == OperationCode::CONCATENATION) return feature_level < 3;
  return form_of(operation.code) == IntegerForm::kTied;
}

bool IntegerRules::needs_larger_output(const Operation& operation) const {
  if (operation.code == OperationCode::MUL) return true;
  return feature_level < 3 && form_of(operation.code) == IntegerForm::kWeighted;
}

std::optional<size_t> channel_axis(OperationCode code) {
  if (!has_trait(code, OperationTrait::kConvolution)) return std::nullopt;
  return static_cast<size_t>(find_operation(code)->channel_axis);
}

bool is_float_variable(const Operand& operand) {
  return operand.type == OperandCode::TENSOR_FLOAT32 && !operand.is_constant();
}

std::vector<OperandId> float_variables(const Model& model, const Operation& operation) {
  std::vector<OperandId> result;
  for (const std::vector<OperandId>* side : {&operation.inputs, &operation.outputs}) {
    for (const OperandId id : *side) {
      if (is_float_variable(model.at(id))) result.push_back(id);
    }
  }
  return result;
}

bool has_integer_form(const Model& model, const Operation& operation, const IntegerRules& rules) {
  const IntegerForm form = form_of(operation.code);
  if (form == IntegerForm::kFloat) return false;
  bool has_float_input = false;
  for (size_t i = 0; i < operation.inputs.size(); ++i) {
    const Operand& input = model.at(operation.inputs[i]);
    if (input.is_omitted() || input.subgraph() != nullptr) return false;
    has_float_input = has_float_input || is_float_variable(input);
    const bool is_parameter = form == IntegerForm::kWeighted && (i == kFilter || i == kBias);
    if (is_parameter && !is_float_constant(input)) return false;
    // A float constant among tied tensors is a padding value, which has no scale of its own.
    if (form == IntegerForm::kTied && is_float_constant(input)) return false;
  }
  if (!has_float_input) return false;
  Model scratch;
  Operation integer = operation;
  for (size_t i = 0; i < operation.inputs.size(); ++i) {
    integer.inputs[i] = scratch.add(integer_operand(operation, i, model.at(operation.inputs[i]), rules));
  }
  for (OperandId& output : integer.outputs) output = scratch.add(integer_result(model.at(output)));
  const SignatureMatch match = match_signature(scratch, integer);
  return match.signature != nullptr && match.problem.empty() && match.feature_level <= rules.feature_level;
}

Model typed_as_integers(const Model& model, const IntegerRules& rules) {
  Model result = model;
  for (const Operation& operation : model.operations) {
    if (!has_integer_form(model, operation, rules)) continue;
    for (size_t i = 0; i < operation.inputs.size(); ++i) {
      result.at(operation.inputs[i]) = integer_operand(operation, i, model.at(operation.inputs[i]), rules);
    }
    for (const OperandId output : operation.outputs) result.at(output) = integer_result(model.at(output));
  }
  return result;
}

}  // namespace nnapi_convert::nnapi
