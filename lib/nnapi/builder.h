// SPDX-License-Identifier: BSD-3-Clause
// Appends operands and operations to a Model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

class Builder {
 public:
  explicit Builder(Model& model) : model_(model) {}
  Model& model() { return model_; }

  // Sets the source line for operations added from now on.
  void set_source(std::string source) { source_ = std::move(source); }

  // Append scalar and INT32 constants.
  OperandId int32(const Dim& value);
  OperandId boolean(bool value);
  OperandId float32(float value);
  OperandId int32_tensor(Dims values);  // rank 1
  OperandId int32_tensor(Dims values, std::vector<int64_t> shape);
  // Appends weights: a FLOAT32 or INT32 tensor, or a quantised tensor with scale and zero point.
  OperandId tensor(Constant value, float scale = 0, int32_t zero_point = 0);
  // Appends int8 weights with a scale for each channel.
  OperandId channel_tensor(Constant value, std::shared_ptr<const ChannelScales> channels);
  // Appends an operand without a value, which an operation will write.
  OperandId variable(Operand type) {
    type.value = {};
    type.name.clear();  // the name belongs to the value that the type is copied from
    type.is_nhwc = false;
    return model_.add(std::move(type));
  }

  // Appends an operation and new operands of the types `outputs`. Returns the new operands.
  std::vector<OperandId> add(OperationCode code, std::vector<OperandId> inputs, std::vector<Operand> outputs);
  // Appends an operation with one output.
  OperandId add(OperationCode code, std::vector<OperandId> inputs, Operand output);

 private:
  Model& model_;
  std::string source_;
};

// Returns the operand type of a constant: TENSOR_QUANT8_ASYMM for uint8, TENSOR_QUANT8_ASYMM_SIGNED for int8.
OperandCode operand_code(DataType type);

}  // namespace nnapi_convert::nnapi
