// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/builder.h"

#include "lib/base/error.h"

namespace nnapi_convert::nnapi {

OperandCode operand_code(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return OperandCode::TENSOR_FLOAT32;
    case DataType::kInt32:
      return OperandCode::TENSOR_INT32;
    case DataType::kInt8:
      return OperandCode::TENSOR_QUANT8_ASYMM_SIGNED;
    case DataType::kUInt8:
      return OperandCode::TENSOR_QUANT8_ASYMM;
    case DataType::kBool:
      return OperandCode::TENSOR_BOOL8;
    case DataType::kFloat16:
      return OperandCode::TENSOR_FLOAT16;
  }
  NNC_ASSERT(false, "unknown data type");
}

OperandId Builder::int32(const Dim& value) {
  return model_.add({OperandCode::INT32, {}, 0, 0, Dims{value}});
}

OperandId Builder::boolean(bool value) {
  return model_.add({OperandCode::BOOL, {}, 0, 0, value});
}

OperandId Builder::float32(float value) {
  return model_.add({OperandCode::FLOAT32, {}, 0, 0, value});
}

OperandId Builder::int32_tensor(Dims values) {
  const auto size = static_cast<int64_t>(values.size());
  return int32_tensor(std::move(values), {size});
}

OperandId Builder::int32_tensor(Dims values, std::vector<int64_t> shape) {
  return model_.add({OperandCode::TENSOR_INT32, to_dims(shape), 0, 0, std::move(values)});
}

OperandId Builder::tensor(Constant value, float scale, int32_t zero_point) {
  const OperandCode type = operand_code(value.type());
  Dims dims = to_dims(value.shape());
  return model_.add({type, std::move(dims), scale, zero_point, std::move(value)});
}

OperandId Builder::channel_tensor(Constant value, std::shared_ptr<const ChannelScales> channels) {
  Operand operand;
  operand.type = OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL;
  operand.dims = to_dims(value.shape());
  operand.value = std::move(value);
  operand.channels = std::move(channels);
  return model_.add(std::move(operand));
}

std::vector<OperandId> Builder::add(OperationCode code, std::vector<OperandId> inputs, std::vector<Operand> outputs) {
  std::vector<OperandId> ids;
  ids.reserve(outputs.size());
  for (Operand& output : outputs) ids.push_back(variable(std::move(output)));
  model_.operations.push_back({code, std::move(inputs), ids, source_});
  return ids;
}

OperandId Builder::add(OperationCode code, std::vector<OperandId> inputs, Operand output) {
  return add(code, std::move(inputs), std::vector<Operand>{std::move(output)}).front();
}

}  // namespace nnapi_convert::nnapi
