// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/shifted_mean.h"

#include "lib/nnapi/passes/known_arguments.h"

namespace nnapi_convert::nnapi {
namespace {

bool is_mean_of_rows(const Model& model, const Operation& operation) {
  if (operation.code != OperationCode::MEAN) return false;
  const Operand& input = model.at(operation.inputs[0]);
  const size_t rank = input.dims.size();
  const bool is_along_last = is_number(model, operation.inputs[1], static_cast<int64_t>(rank) - 1) ||
                             is_number(model, operation.inputs[1], -1);
  return is_along_last && input.type == OperandCode::TENSOR_FLOAT32 && !input.is_constant() &&
         model.at(operation.outputs[0]).dims.size() == rank;
}

}  // namespace

std::optional<ShiftedMean> shifted_mean(const Model& model, const Uses& uses, const Operation& sum) {
  if (sum.code != OperationCode::ADD || !has_no_activation(model, sum)) return std::nullopt;
  const size_t other = model.at(sum.inputs[0]).constant() != nullptr ? 0 : 1;
  const Operand& number = model.at(sum.inputs[other]);
  const OperandId term = sum.inputs[1 - other];
  const int maker = uses.producer[static_cast<size_t>(term)];
  const bool is_plain = number.constant() != nullptr && number.type == OperandCode::TENSOR_FLOAT32 &&
                        number.constant()->element_count() == 1 && maker >= 0 &&
                        uses.readers[static_cast<size_t>(term)] == 1 &&
                        model.at(sum.outputs[0]).dims == model.at(term).dims;
  if (!is_plain || !is_mean_of_rows(model, model.operations[static_cast<size_t>(maker)])) return std::nullopt;
  return ShiftedMean{static_cast<size_t>(maker), number.constant()->floats()[0]};
}

}  // namespace nnapi_convert::nnapi
