// SPDX-License-Identifier: BSD-3-Clause
// Average pools over whole images become layers that compute the same.
#include "lib/quantise/layers_of_pools.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/validate.h"
#include "tests/nnapi/interpreter.h"
#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::quantise;
using nnapi::OperandId;
using nnapi::testing::Net;
using nnapi::testing::Tensor;

namespace {

const std::vector<OperationCode> kLayer{OperationCode::DEPTHWISE_CONV_2D};

OperandId pool(Net& net, OperandId image, int64_t filter_height, int64_t filter_width, int64_t padding = 0) {
  const Dims& dims = net.dims(image);
  const Dims result{dims[0], dims[1] + Dim(2 * padding - filter_height + 1),
                    dims[2] + Dim(2 * padding - filter_width + 1), dims[3]};
  std::vector<OperandId> inputs{image};
  for (int side = 0; side < 4; ++side) inputs.push_back(net.builder.int32(padding));
  for (const int64_t number : {int64_t{1}, int64_t{1}, filter_width, filter_height, int64_t{0}}) {
    inputs.push_back(net.builder.int32(number));
  }
  return net.builder.add(OperationCode::AVERAGE_POOL_2D, inputs, nnapi::testing::float_type(result));
}

// Checks that the only pool became a layer, and that the model's results are the same.
void check_made(Net& net, const std::vector<OperationCode>& codes) {
  const LayersOfPools made = layers_of_pools(net.model, {}, true);
  CHECK(made.any());
  CHECK(nnapi::testing::codes(made.model) == codes);
  CHECK(nnapi::validate(made.model, 3).empty());
  CHECK(made.is_layer[0]);
  Tensor image(fixed_values(net.model.at(net.model.inputs[0].operand).dims));
  image.values = nnapi::testing::random_values(net.random, image.values.size());
  const std::vector<Tensor> expected = nnapi::testing::run(net.model, {image});
  const std::vector<Tensor> found = nnapi::testing::run(made.model, {image});
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) CHECK(nnapi::testing::close(found[i], expected[i]));
}

void check_stays(Net& net, const std::vector<bool>& left_out = {}) {
  const LayersOfPools made = layers_of_pools(net.model, left_out, true);
  CHECK_FALSE(made.any());
  CHECK(nnapi::testing::codes(made.model) == nnapi::testing::codes(net.model));
}

}  // namespace

TEST_CASE("layers_of_pools: a MEAN over the places of images") {
  Net net;
  net.output(net.mean(net.input({2, 5, 3, 4}), {1, 2}, true));
  check_made(net, kLayer);
}

TEST_CASE("layers_of_pools: a MEAN that gives vectors to linear layers") {
  Net net;
  const OperandId mean = net.mean(net.input({2, 5, 3, 4}), {2, 1}, false);
  net.output(net.fully_connected(mean, 3));
  net.output(net.fully_connected(mean, 2));
  check_made(net, {kLayer[0], OperationCode::FULLY_CONNECTED, OperationCode::FULLY_CONNECTED});
}

TEST_CASE("layers_of_pools: images in NCHW") {
  Net net;
  net.output(net.fully_connected(net.mean(net.input({2, 4, 5, 3}), {2, 3}, false), 3));
  CHECK_FALSE(layers_of_pools(net.model, {}, false).any());
  check_made(net, {kLayer[0], OperationCode::FULLY_CONNECTED});
}

TEST_CASE("layers_of_pools: AVERAGE_POOL_2D over the whole image") {
  Net net;
  net.output(pool(net, net.input({1, 5, 3, 4}), 5, 3));
  const LayersOfPools made = layers_of_pools(net.model, {}, true);
  CHECK(nnapi::testing::codes(made.model) == kLayer);
  CHECK(nnapi::validate(made.model, 3).empty());
  const std::vector<float> weights = nnapi::testing::floats(made.model, made.model.operations[0], 1);
  CHECK(weights == std::vector<float>(60, 1.0F / 15));
}

TEST_CASE("layers_of_pools: operations that are left out, and other pools, stay") {
  Net left_out;
  left_out.output(left_out.mean(left_out.input({1, 4, 4, 2}), {1, 2}, true));
  check_stays(left_out, {true});

  Net vectors;  // a RELU takes no image in place of the vector
  vectors.output(vectors.unary(OperationCode::RELU, vectors.mean(vectors.input({1, 4, 4, 2}), {1, 2}, false)));
  check_stays(vectors);

  Net output;
  const OperandId mean = output.mean(output.input({1, 4, 4, 2}), {1, 2}, false);
  output.output(output.fully_connected(mean, 3));
  output.output(mean);
  check_stays(output);

  Net channels;
  channels.output(channels.mean(channels.input({1, 4, 4, 2}), {3}, true));
  check_stays(channels);

  Net large;
  large.output(large.mean(large.input({1, 17, 4, 2}), {1, 2}, true));
  check_stays(large);

  Net one_place;
  one_place.output(one_place.mean(one_place.input({1, 1, 1, 2}), {1, 2}, true));
  check_stays(one_place);

  Net windows;
  windows.output(pool(windows, windows.input({1, 4, 4, 2}), 2, 4));
  check_stays(windows);

  Net padded;
  padded.output(pool(padded, padded.input({1, 4, 4, 2}), 4, 4, 1));
  check_stays(padded);
}
