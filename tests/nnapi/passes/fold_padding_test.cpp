// SPDX-License-Identifier: BSD-3-Clause
// Zeros of a PAD become a convolution's padding, others don't.
#include "lib/nnapi/passes/fold_padding.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/passes/compact.h"
#include "tests/nnapi/passes/random_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::count;
using testing::Net;

namespace {

// Returns the number of PADs left before a convolution of a padded [1, 3, 5, 6].
size_t pads_left(const std::vector<int64_t>& before_after) {
  Net net;
  const OperandId input = net.input({1, 3, 5, 6});
  net.output(net.conv(net.pad(input, before_after), 4));
  testing::check_keeps_results(net, [](Model& model) {
    fold_padding(model);
    compact(model);
  });
  return count(net.model, OperationCode::PAD);
}

}  // namespace

TEST_CASE("fold_padding: zeros around height and width") {
  CHECK(pads_left({0, 0, 0, 0, 1, 1, 0, 1}) == 0);
  CHECK(pads_left({0, 0, 0, 0, 0, 1, 0, 1}) == 0);
}

TEST_CASE("fold_padding: zeros along batch or channels stay") {
  CHECK(pads_left({1, 0, 0, 0, 1, 1, 1, 1}) == 1);
}

TEST_CASE("fold_padding: more zeros than the filter is large stay") {
  CHECK(pads_left({0, 0, 0, 0, 1, 1, 2, 2}) == 1);
}

TEST_CASE("fold_padding: of integers the number of the zero point alone stands for 0") {
  for (const int code : {0, 6, 7, 8}) {
    Model model;
    Builder builder(model);
    const auto type = [](Dims dims) { return Operand{OperandCode::TENSOR_QUANT8_ASYMM, std::move(dims), 0.5F, 7, {}}; };
    const OperandId input = builder.variable(type({1, 3, 5, 6}));
    const OperandId sizes = builder.int32_tensor({0, 0, 0, 0, 1, 1, 1, 1}, {4, 2});
    const OperandId padded =
        builder.add(OperationCode::PAD_V2, {input, sizes, builder.int32(code)}, type({1, 3, 7, 8}));
    const auto weights = std::make_shared<std::vector<uint8_t>>(4 * 3 * 3 * 3, uint8_t{9});
    const auto bias = std::make_shared<std::vector<int32_t>>(4, 1);
    std::vector<OperandId> arguments = {
        padded, builder.tensor(Constant(DataType::kUInt8, {4, 3, 3, 3}, weights->data(), weights), 0.25F, 3),
        builder.tensor(Constant(DataType::kInt32, {4}, bias->data(), bias), 0.125F)};
    for (const int number : {0, 0, 0, 0, 1, 1, 0}) arguments.push_back(builder.int32(number));
    arguments.push_back(builder.boolean(true));
    model.inputs = {{input}};
    model.outputs = {{builder.add(OperationCode::CONV_2D, arguments, type({1, 4, 5, 6}))}};
    fold_padding(model);
    compact(model);
    CHECK(count(model, OperationCode::PAD_V2) == (code == 7 ? 0 : 1));
  }
}

TEST_CASE("fold_padding: of floats 0 alone") {
  for (const float value : {0.0F, -0.5F}) {
    Net net;
    const OperandId input = net.input({1, 3, 5, 6});
    const OperandId sizes = net.builder.int32_tensor({0, 0, 0, 0, 1, 1, 1, 1}, {4, 2});
    Operand padded = net.model.at(input);
    padded.dims = {1, 3, 7, 8};
    net.output(net.conv(net.builder.add(OperationCode::PAD_V2, {input, sizes, net.builder.float32(value)}, padded), 4));
    fold_padding(net.model);
    compact(net.model);
    CHECK(count(net.model, OperationCode::PAD_V2) == (value == 0 ? 0 : 1));
  }
}

TEST_CASE("fold_padding: a pool doesn't take them") {
  Net net;
  net.output(net.max_pool(net.pad(net.input({1, 3, 4, 6}), {0, 0, 0, 0, 1, 1, 1, 1})));
  fold_padding(net.model);
  compact(net.model);
  CHECK(count(net.model, OperationCode::PAD) == 1);
}
