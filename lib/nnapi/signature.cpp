// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/signature.h"

#include <fmt/format.h>

#include <algorithm>

namespace nnapi_convert::nnapi {
namespace {

size_t variadic_position(TableView<ArgumentInfo> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].variadic) return i;
  }
  return arguments.size();
}

bool takes_count(TableView<ArgumentInfo> arguments, size_t count) {
  const size_t size = arguments.size();
  if (count > size) return variadic_position(arguments) < size;
  return count == size || arguments[count].optional;
}

// An attempt to match: two points for each argument that fits, one for a type that fits.
struct Attempt {
  SignatureMatch match;
  size_t points = 0;
};

// Returns what is wrong with the operand; empty if it fits.
std::string mismatch(const Operand& operand, const ArgumentInfo& argument, const TypeCombination& combination) {
  const OperandCode needed = argument.type_in(combination);
  if (!argument.takes(operand.type, combination)) {
    return fmt::format("argument {}: {} found, {} needed", argument.name, name_of(operand.type), name_of(needed));
  }
  if (operand.is_omitted() && !argument.omittable) {
    return fmt::format("argument {}: nothing found, a value needed", argument.name);
  }
  const size_t rank = operand.dims.size();
  if (is_tensor(operand.type) && (rank < argument.min_rank || rank > argument.max_rank)) {
    return fmt::format("argument {}: rank {} found, {} to {} needed", argument.name, rank, argument.min_rank,
                       argument.max_rank);
  }
  return "";
}

// Tries one signature and combination of types; the match's `signature` stays null if they don't fit.
Attempt attempt(const Model& model, const Operation& operation, const SignatureInfo& signature,
                const TypeCombination& combination) {
  Attempt result;
  int32_t level = std::max(signature.since, combination.since);
  const auto fits = [&](OperandId id, const ArgumentInfo& argument) {
    result.match.problem = mismatch(model.at(id), argument, combination);
    if (result.match.problem.empty()) {
      result.points += 2;
    } else if (argument.takes(model.at(id).type, combination)) {
      ++result.points;
    }
    return result.match.problem.empty();
  };
  for (size_t i = 0; i < operation.inputs.size(); ++i) {
    const ArgumentInfo& argument = argument_of_input(signature, i, operation.inputs.size());
    if (!fits(operation.inputs[i], argument)) return result;
    level = std::max(level, argument.since);
  }
  for (size_t i = 0; i < operation.outputs.size(); ++i) {
    const ArgumentInfo& argument = signature.outputs[std::min(i, signature.outputs.size() - 1)];
    if (!fits(operation.outputs[i], argument)) return result;
    level = std::max(level, argument.since);
  }
  result.match.signature = &signature;
  result.match.combination = &combination;
  result.match.feature_level = level;
  return result;
}

}  // namespace

const ArgumentInfo& argument_of_input(const SignatureInfo& signature, size_t index, size_t input_count) {
  const size_t variadic = variadic_position(signature.inputs);
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
  size_t most_points = 0;
  bool any_problem = false;
  for (const SignatureInfo& signature : info->signatures) {
    if (!takes_count(signature.inputs, operation.inputs.size())) continue;
    if (!takes_count(signature.outputs, operation.outputs.size())) continue;
    for (const TypeCombination& combination : signature.combinations) {
      Attempt found = attempt(model, operation, signature, combination);
      if (found.match.signature == nullptr) {
        // The problem of the signature that fits best says most.
        if (best.signature == nullptr && (!any_problem || found.points > most_points)) {
          best.problem = found.match.problem;
          most_points = found.points;
          any_problem = true;
        }
        continue;
      }
      found.match.feature_level = std::max(found.match.feature_level, info->since);
      if (best.signature == nullptr || found.match.feature_level < best.feature_level) best = found.match;
    }
  }
  return best;
}

}  // namespace nnapi_convert::nnapi
