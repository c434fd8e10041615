// Builder: appends operands and operations to a Model.
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

  // Source line given to the operations added from now on.
  void set_source(std::string source) { source_ = std::move(source); }

  // Scalar and INT32 constants.
  OperandId int32(const Dim& value);
  OperandId boolean(bool value);
  OperandId float32(float value);
  OperandId int32_tensor(Dims values);  // rank 1
  OperandId int32_tensor(Dims values, std::vector<int64_t> shape);
  // Weights: a FLOAT32 or INT32 tensor, or quantised with scale and zero point.
  OperandId tensor(Constant value, float scale = 0, int32_t zero_point = 0);
  // int8 weights with a scale for each channel.
  OperandId channel_tensor(Constant value, std::shared_ptr<const ChannelScales> channels);
  // An operand without a value yet, for an operation to write.
  OperandId variable(Operand type) {
    type.value = {};
    type.name.clear();  // a copied type is another value's
    type.is_nhwc = false;
    return model_.add(std::move(type));
  }

  // Appends an operation; `outputs` are types of new operands, which are returned.
  std::vector<OperandId> add(OperationCode code, std::vector<OperandId> inputs, std::vector<Operand> outputs);
  // The same for one output.
  OperandId add(OperationCode code, std::vector<OperandId> inputs, Operand output);

 private:
  Model& model_;
  std::string source_;
};

// The operand type of a constant; uint8 is TENSOR_QUANT8_ASYMM, int8 TENSOR_QUANT8_ASYMM_SIGNED.
OperandCode operand_code(DataType type);

}  // namespace nnapi_convert::nnapi
