// SPDX-License-Identifier: BSD-3-Clause
// Multiply-adds by shape.
#include "lib/nnapi/cost.h"

#include <catch2/catch.hpp>

#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::float_type;
using testing::Net;

TEST_CASE("cost: convolutions take their filter for each element they give") {
  Net net;
  const OperandId x = net.conv(net.input({2, 3, 8, 8}), 4);  // 3x3
  CHECK(multiply_adds(net.model) == 2 * 4 * 8 * 8 * (3 * 3 * 3));
  net.depthwise(x, 2);
  CHECK(multiply_adds(net.model) == 2 * 4 * 8 * 8 * (3 * 3 * 3) + 2 * 8 * 8 * 8 * (3 * 3));
}

TEST_CASE("cost: transposed convolutions take it for each element they read") {
  Net net;
  const OperandId x = net.input({1, 5, 4, 4});
  const OperandId filter = net.weights({7, 2, 2, 5});
  net.builder.add(OperationCode::TRANSPOSE_CONV_2D, {x, filter}, float_type({1, 7, 8, 8}));
  CHECK(multiply_adds(net.model) == (5 * 4 * 4) * (7 * 2 * 2));
}

TEST_CASE("cost: matrix products") {
  Net net;
  net.fully_connected(net.input({3, 10}), 6);
  CHECK(multiply_adds(net.model) == 3 * 6 * 10);
  const OperandId a = net.input({2, 9, 4});
  const OperandId b = net.input({2, 9, 5});
  net.builder.add(OperationCode::BATCH_MATMUL, {a, b, net.builder.boolean(true), net.builder.boolean(false)},
                  float_type({2, 4, 5}));
  CHECK(multiply_adds(net.model) == 3 * 6 * 10 + 2 * 4 * 5 * 9);
}

TEST_CASE("cost: recurrent layers take their matrices at each step") {
  Net net;
  const OperandId x = net.input({1, 12, 6});  // 12 steps
  const OperandId state = net.input({1, 8});
  net.builder.add(OperationCode::UNIDIRECTIONAL_SEQUENCE_RNN,
                  {x, net.weights({8, 6}), net.weights({8, 8}), net.weights({8}), state, net.builder.int32(0),
                   net.builder.int32(0)},
                  float_type({1, 12, 8}));
  CHECK(multiply_adds(net.model) == 12 * (8 * 6 + 8 * 8));
}

TEST_CASE("cost: what has no weights costs nothing, what is of flexible size isn't known") {
  Net net;
  net.softmax(net.input({1, 10}), 1);
  CHECK(multiply_adds(net.model) == 0);
  net.conv(net.input({Dim::of_input(0, 0), 3, 8, 8}), 4);
  CHECK_FALSE(multiply_adds(net.model).is_known());
}

TEST_CASE("cost: what int64_t doesn't hold isn't known") {
  Net net;
  const OperandId x = net.conv(net.input({1, 3, 2'000'000'000, 2'000'000'000}), 4);
  CHECK_FALSE(multiply_adds(net.model).is_known());
  CHECK_FALSE(byte_count(net.model.at(x)).is_known());
  CHECK_FALSE(element_count(net.model.at(x)).is_known());
}
