// SPDX-License-Identifier: BSD-3-Clause
// The text form of models.
#include "lib/nnapi/dump.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/passes/choose_layout.h"
#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::Net;

TEST_CASE("dump: a small net") {
  Net net;
  const OperandId x = net.input({1, 3, 8, Dim::of_input(0, 3)}, true);
  const OperandId y = net.conv(x, 4);
  net.output(net.softmax(net.mean(y, {2, 3}, false), 1));
  choose_layout(net.model);
  CHECK("\n" + to_text(net.model) == R"(
inputs
  %0: TENSOR_FLOAT32[1, 8, x0.3, 3] nhwc
operations
  %11: TENSOR_FLOAT32[1, 8, x0.3, 4] = CONV_2D(input=%0, filter=const TENSOR_FLOAT32[4, 3, 3, 3], bias=const TENSOR_FLOAT32[4], padding_left=1, padding_right=1, padding_top=1, padding_bottom=1, stride_width=1, stride_height=1, activation=0)
  %14: TENSOR_FLOAT32[1, 4] = MEAN(input=%11, axes=[1, 2], keep_dims=0)
  %17: TENSOR_FLOAT32[1, 4] = SOFTMAX(input=%14, beta=1, axis=1)
outputs
  %17: TENSOR_FLOAT32[1, 4]
)");
}

TEST_CASE("dump: values, recipes, several inputs and outputs") {
  Net net;
  const OperandId x = net.builder.variable(testing::quant_type({2, 4}, 0.5f, 128));
  net.model.inputs.push_back({x});
  const auto halves = net.builder.add(OperationCode::SPLIT, {x, net.builder.int32(1), net.builder.int32(2)},
                                      {testing::quant_type({2, 2}, 0.5f, 128), testing::quant_type({2, 2}, 0.5f, 128)});
  const OperandId weights = net.builder.tensor(Constant::of_floats({1, 2, 3, 4}, {2, 2}).then(Permute{{1, 0}}));
  net.builder.add(OperationCode::LSTM, {weights, net.builder.boolean(true), net.builder.boolean(false)},
                  testing::float_type({2, 2}));
  net.output(halves[0]);
  net.output(halves[1]);
  CHECK("\n" + to_text(net.model) == R"(
inputs
  %0: TENSOR_QUANT8_ASYMM[2, 4] scale 0.5 zero_point 128
operations
  %3: TENSOR_QUANT8_ASYMM[2, 2] scale 0.5 zero_point 128, %4: TENSOR_QUANT8_ASYMM[2, 2] scale 0.5 zero_point 128 = SPLIT(input=%0, axis=1, split_count=2)
  %8: TENSOR_FLOAT32[2, 2] = LSTM(const {permute(1,0)} TENSOR_FLOAT32[2, 2], true, false)
outputs
  %3: TENSOR_QUANT8_ASYMM[2, 2] scale 0.5 zero_point 128
  %4: TENSOR_QUANT8_ASYMM[2, 2] scale 0.5 zero_point 128
)");
}

TEST_CASE("dump: types") {
  CHECK(type_text(testing::float_type({1, 2})) == "TENSOR_FLOAT32[1, 2]");
  CHECK(type_text(testing::quant_type({3}, 0.25f, 0)) == "TENSOR_QUANT8_ASYMM[3] scale 0.25 zero_point 0");
  CHECK(type_text(Operand{OperandCode::TENSOR_INT32, {4}, 0.125f, 0, {}}) ==
        "TENSOR_INT32[4] scale 0.125 zero_point 0");
  CHECK(type_text(Operand{OperandCode::INT32, {}, 0, 0, Dims{1}}) == "INT32[]");
}
