// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/moved_operand.h"

#include <algorithm>
#include <optional>

#include "lib/nnapi/passes/moves.h"
#include "lib/nnapi/permutation.h"

namespace nnapi_convert::nnapi {
namespace {

// Returns a tensor whose elements are all `value`.
OperandId filled(Builder& builder, float value, const Operand& type) {
  const OperandId number = builder.tensor(Constant::of_floats({value}, std::vector<int64_t>(type.dims.size(), 1)));
  return builder.add(OperationCode::TILE, {number, builder.int32_tensor(type.dims)}, type);
}

// Moves a bool tensor as float32: neither RESHAPE nor TRANSPOSE takes bool.
OperandId moved_bool(Builder& builder, OperandId id, const std::vector<int64_t>& order) {
  Operand number = builder.model().at(id);
  number.type = OperandCode::TENSOR_FLOAT32;
  const OperandId ones = filled(builder, 1, number), zeros = filled(builder, 0, number);
  const OperandId result = moved(builder, builder.add(OperationCode::SELECT, {id, ones, zeros}, number), order);
  Operand condition = builder.model().at(result);
  condition.type = OperandCode::TENSOR_BOOL8;
  return builder.add(OperationCode::NOT_EQUAL, {result, builder.tensor(Constant::of_floats({0}))}, condition);
}

// If TILE makes the operand from a single value, repeats the value in the other order. A later step drops a TILE that
// nothing reads.
std::optional<OperandId> tiled_again(Builder& builder, OperandId id, const std::vector<int64_t>& order) {
  const Model& model = builder.model();
  const auto makes = [id](const Operation& operation) { return operation.outputs[0] == id; };
  const auto found = std::find_if(model.operations.rbegin(), model.operations.rend(), makes);
  if (found == model.operations.rend() || found->code != OperationCode::TILE) return std::nullopt;
  const OperandId value = found->inputs[0];
  const Dims* multiples = model.at(found->inputs[1]).ints();
  if (!is_single_value(model, value) || multiples == nullptr) return std::nullopt;
  Operand result = model.at(id);
  result.dims = permute(result.dims, order);
  return builder.add(OperationCode::TILE, {value, builder.int32_tensor(permute(*multiples, order))}, result);
}

}  // namespace

bool is_single_value(const Model& model, OperandId id) {
  const Dims& dims = model.at(id).dims;
  return std::all_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim == Dim(1); });
}

OperandId moved(Builder& builder, OperandId id, const std::vector<int64_t>& order) {
  Operand result = builder.model().at(id);
  if (const Constant* constant = result.constant()) {
    return builder.tensor(constant->then(Permute{order}), result.scale, result.zero_point);
  }
  if (result.type == OperandCode::TENSOR_BOOL8) return moved_bool(builder, id, order);
  if (const auto tiled = tiled_again(builder, id, order)) return *tiled;
  const bool is_reshape = keeps_sequence(result.dims, order);
  result.dims = permute(result.dims, order);
  if (is_reshape) return builder.add(OperationCode::RESHAPE, {id, builder.int32_tensor(result.dims)}, result);
  return builder.add(OperationCode::TRANSPOSE, {id, builder.int32_tensor(to_dims(order))}, result);
}

}  // namespace nnapi_convert::nnapi
