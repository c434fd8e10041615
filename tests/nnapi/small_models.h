// SPDX-License-Identifier: BSD-3-Clause
// Makes models for tests in few words: types, constants with random values, operations with their usual arguments.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "lib/nnapi/builder.h"
#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi::testing {

Operand float_type(Dims dims);
Operand quant_type(Dims dims, float scale, int32_t zero_point = 0);

std::vector<float> random_values(std::mt19937& random, size_t count);
Constant random_constant(std::mt19937& random, const std::vector<int64_t>& shape);

// A Model with its Builder, one call per operation. Tensors are float, in PyTorch's order (layout flags are NCHW).
struct Net {
  Model model;
  Builder builder{model};
  std::mt19937 random{1};

  Net() = default;
  Net(const Net&) = delete;
  Net& operator=(const Net&) = delete;

  const Dims& dims(OperandId id) { return model.at(id).dims; }
  OperandId input(Dims dims, bool nhwc = false);
  void output(OperandId id) { model.outputs.push_back({id}); }
  OperandId weights(const std::vector<int64_t>& shape) { return builder.tensor(random_constant(random, shape)); }

  // Stride 1, padding 1; the filter is [out, 3, 3, in].
  OperandId conv(OperandId x, int64_t out_channels, int64_t dilation = 1);
  OperandId depthwise(OperandId x, int64_t multiplier = 1);
  OperandId max_pool(OperandId x);  // 2x2, stride 2
  OperandId fully_connected(OperandId x, int64_t out_features);
  OperandId binary(OperationCode code, OperandId a, OperandId b);
  OperandId unary(OperationCode code, OperandId x);
  OperandId concatenation(const std::vector<OperandId>& parts, int64_t axis);
  OperandId mean(OperandId x, const std::vector<int64_t>& axes, bool keep_dims);
  OperandId softmax(OperandId x, int64_t axis);
  OperandId pad(OperandId x, const std::vector<int64_t>& before_after);
  OperandId transpose(OperandId x, const std::vector<int64_t>& order);
  OperandId reshape(OperandId x, const Dims& shape);
  // Takes the entries [begin, end) by `strides` and keeps all axes.
  OperandId strided_slice(OperandId x, const std::vector<int64_t>& begin, const std::vector<int64_t>& end,
                          const std::vector<int64_t>& strides, int64_t begin_mask = 0, int64_t end_mask = 0);
};

std::vector<OperationCode> codes(const Model& model);
size_t count(const Model& model, OperationCode code);
// Returns the only operation with this code.
const Operation& the(const Model& model, OperationCode code);
// Returns the numbers of an INT32 or TENSOR_INT32 constant argument.
std::vector<int64_t> ints(const Model& model, const Operation& operation, size_t input);
std::vector<float> floats(const Model& model, const Operation& operation, size_t input);

}  // namespace nnapi_convert::nnapi::testing
