// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/index_arithmetic.h"

#include <algorithm>

namespace nnapi_convert::quantise {
namespace {

using nnapi::Model;
using nnapi::OperandId;
using nnapi::Operation;

bool is_float(const Model& model, OperandId id) {
  return model.at(id).type == OperandCode::TENSOR_FLOAT32;
}

bool is_integer(const Model& model, OperandId id) {
  return model.at(id).type == OperandCode::TENSOR_INT32 || model.at(id).type == OperandCode::TENSOR_BOOL8;
}

bool is_float_variable(const Model& model, OperandId id) {
  return is_float(model, id) && !model.at(id).is_constant();
}

// Returns by operand whether its floats are computed only from integers and constants. A row of a table of floats,
// which GATHER reads, is not.
std::vector<bool> floats_of_integers(const Model& model) {
  std::vector<bool> result(model.operands.size());
  for (const Operation& operation : model.operations) {
    size_t variables = 0, of_integers = 0;
    for (const OperandId id : operation.inputs) {
      if (!is_float_variable(model, id)) continue;
      ++variables;
      of_integers += result[static_cast<size_t>(id)] ? 1 : 0;
    }
    const bool is_cast = operation.code == OperationCode::CAST && is_integer(model, operation.inputs[0]);
    if (!is_cast && (variables == 0 || of_integers < variables)) continue;
    for (const OperandId id : operation.outputs) result[static_cast<size_t>(id)] = is_float(model, id);
  }
  return result;
}

}  // namespace

std::vector<bool> index_arithmetic(const Model& model) {
  const std::vector<bool> of_integers = floats_of_integers(model);
  std::vector<bool> result(model.operations.size()), becomes_integer(model.operands.size());
  for (size_t i = model.operations.size(); i-- > 0;) {
    const Operation& operation = model.operations[i];
    const bool is_end = std::any_of(operation.outputs.begin(), operation.outputs.end(), [&](OperandId id) {
      return is_integer(model, id) || becomes_integer[static_cast<size_t>(id)];
    });
    if (!is_end) continue;
    for (const OperandId id : operation.inputs) {
      if (!of_integers[static_cast<size_t>(id)]) continue;
      becomes_integer[static_cast<size_t>(id)] = true;
      result[i] = true;
    }
  }
  return result;
}

}  // namespace nnapi_convert::quantise
