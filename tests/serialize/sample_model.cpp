// SPDX-License-Identifier: BSD-3-Clause
#include "tests/serialize/sample_model.h"

#include <cstring>

#include "lib/nnapi/builder.h"

namespace nnapi_convert::testing {

using nnapi::Constant;

nnapi::Model sample_model() {
  nnapi::Model model;
  nnapi::Builder builder(model);
  const Dim batch = Dim::of_input(0, 0);
  const auto x = builder.variable({OperandCode::TENSOR_QUANT8_ASYMM, {batch, 11}, 0.5f, 128, {}});
  const auto real = builder.add(OperationCode::DEQUANTIZE, {x}, {OperandCode::TENSOR_FLOAT32, {batch, 11}, 0, 0, {}});
  const auto weights = builder.tensor(Constant::of_floats(std::vector<float>(33, 0.25f), {3, 11}));
  const auto bias = builder.tensor(Constant::of_floats({1, 2, -1}));
  const auto relu = builder.int32(static_cast<int64_t>(FuseCode::RELU));
  const auto y = builder.add(OperationCode::FULLY_CONNECTED, {real, weights, bias, relu},
                             {OperandCode::TENSOR_FLOAT32, {batch, 3}, 0, 0, {}});
  const auto shape = builder.int32_tensor({batch, 3, 1});
  const auto z =
      builder.add(OperationCode::RESHAPE, {y, shape}, {OperandCode::TENSOR_FLOAT32, {batch, 3, 1}, 0, 0, {}});
  model.inputs.push_back({x});
  model.outputs.push_back({z});
  return model;
}

int32_t float_bits(float value) {
  int32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace nnapi_convert::testing
