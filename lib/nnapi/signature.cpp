#include "lib/nnapi/signature.h"

#include <fmt/format.h>

#include <algorithm>

namespace nnapi_convert::nnapi {
namespace {

size_t variadic_position(const SignatureInfo& signature) {
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    if (signature.inputs[i].variadic) return i;
  }
  return signature.inputs.size();
}

bool takes_input_count(const SignatureInfo& signature, size_t count) {
  const size_t size = signature.inputs.size();
  if (variadic_position(signature) < size) return count >= size;
  if (count > size) return false;
  return count == size || signature.inputs[count].optional;
}

// Empty if the operand fits, else what is wrong.
std::string mismatch(const Operand& operand, const ArgumentInfo& argument, const TypeCombination& combination) {
  const OperandCode needed = argument.type_in(combination);
  if (operand.type != needed) {
    return fmt::format("argument {}: {} found, {} needed", argument.name, name_of(operand.type), name_of(needed));
  }
  const size_t rank = operand.dims.size();
  if (is_tensor(needed) && (rank < argument.min_rank || rank > argument.max_rank)) {
    return fmt::format("argument {}: rank {} found, {} to {} needed", argument.name, rank, argument.min_rank,
                       argument.max_rank);
  }
  return "";
}

// The match of one signature and combination of types; `signature` stays null where they don't fit.
SignatureMatch match(const Model& model, const Operation& operation, const SignatureInfo& signature,
                     const TypeCombination& combination) {
  SignatureMatch result;
  int32_t level = std::max(signature.since, combination.since);
  for (size_t i = 0; i < operation.inputs.size(); ++i) {
    const ArgumentInfo& argument = argument_of_input(signature, i, operation.inputs.size());
    result.problem = mismatch(model.at(operation.inputs[i]), argument, combination);
    if (!result.problem.empty()) return result;
    level = std::max(level, argument.since);
  }
  for (size_t i = 0; i < operation.outputs.size(); ++i) {
    const ArgumentInfo& argument = signature.outputs[std::min(i, signature.outputs.size() - 1)];
    result.problem = mismatch(model.at(operation.outputs[i]), argument, combination);
    if (!result.problem.empty()) return result;
  }
  result.signature = &signature;
  result.combination = &combination;
  result.feature_level = level;
  return result;
}

}  // namespace

const ArgumentInfo& argument_of_input(const SignatureInfo& signature, size_t index, size_t input_count) {
  const size_t variadic = variadic_position(signature);
  if (index <= variadic || variadic == signature.inputs.size()) return signature.inputs[index];
  const size_t extra = input_count - signature.inputs.size();
  return signature.inputs[index <= variadic + extra ? variadic : index - extra];
}

SignatureMatch match_signature(const Model& model, const Operation& operation) {
  SignatureMatch best;
  const OperationInfo* info = find_operation(operation.code);
  best.problem = "the operation takes no such number of arguments";
  if (info == nullptr || info->signatures.empty()) {
    best.problem = "the operations table doesn't describe it";
    return best;
  }
  for (const SignatureInfo& signature : info->signatures) {
    if (!takes_input_count(signature, operation.inputs.size())) continue;
    for (const TypeCombination& combination : signature.combinations) {
      SignatureMatch found = match(model, operation, signature, combination);
      if (found.signature == nullptr) {
        if (best.signature == nullptr) best.problem = found.problem;
        continue;
      }
      found.feature_level = std::max(found.feature_level, info->since);
      if (best.signature == nullptr || found.feature_level < best.feature_level) best = found;
    }
  }
  return best;
}

}  // namespace nnapi_convert::nnapi
