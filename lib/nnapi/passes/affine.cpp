// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/affine.h"

#include "lib/format/operation_table.h"

namespace nnapi_convert::nnapi {

bool is_affine(const Model& model, const Operation& operation) {
  const bool fits = has_trait(operation.code, OperationTrait::kArithmetic) && operation.code != OperationCode::DIV;
  if (!fits) return false;
  const Dims* activation = model.at(operation.inputs.back()).ints();
  return activation != nullptr && (*activation)[0] == Dim(static_cast<int64_t>(FuseCode::NONE));
}

std::optional<std::vector<float>> per_channel_values(const Operand& operand, size_t rank, size_t channels,
                                                     size_t axis) {
  const Constant* constant = operand.constant();
  if (constant == nullptr || constant->type() != DataType::kFloat32) return std::nullopt;
  const size_t own_rank = constant->shape().size();
  if (own_rank > rank) return std::nullopt;
  for (size_t i = 0; i < own_rank; ++i) {
    const bool is_channel_axis = i + rank - own_rank == axis;
    if (constant->shape()[i] != 1 && !is_channel_axis) return std::nullopt;
  }
  std::vector<float> values = constant->floats();
  if (values.size() == 1) values.assign(channels, values[0]);
  if (values.size() != channels) return std::nullopt;
  return values;
}

}  // namespace nnapi_convert::nnapi
