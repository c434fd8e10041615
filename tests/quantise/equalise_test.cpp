// SPDX-License-Identifier: BSD-3-Clause
// Equalised layers compute the same, and their channels are near each other.
#include "lib/quantise/equalise.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "lib/nnapi/integer_forms.h"
#include "tests/nnapi/interpreter.h"
#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::quantise;
using nnapi::OperandId;
using nnapi::Operation;
using nnapi::testing::Net;
using nnapi::testing::Tensor;

namespace {

// The operation's filter with channels that differ by `factor`, along its axis of output channels.
void spread(nnapi::Model& model, const Operation& operation, float factor) {
  nnapi::Operand& filter = model.at(operation.inputs[1]);
  std::vector<float> values = filter.constant()->floats();
  const std::vector<int64_t> shape = filter.constant()->shape();
  const bool is_depthwise = operation.code == OperationCode::DEPTHWISE_CONV_2D;
  const size_t channels = static_cast<size_t>(is_depthwise ? shape.back() : shape[0]);
  const size_t inner = is_depthwise ? 1 : values.size() / channels;
  for (size_t i = 0; i < values.size(); ++i) {
    const float share = static_cast<float>(i / inner % channels) / static_cast<float>(channels - 1);
    values[i] *= std::pow(factor, share);
  }
  filter.value = nnapi::Constant::of_floats(values, shape);
}

Observations observed(const nnapi::Model& model, float highest) {
  Observations observations;
  observations.histograms.resize(model.operands.size());
  const float values[] = {0, highest};
  for (Histogram& histogram : observations.histograms) histogram.add(values, 2);
  return observations;
}

std::vector<Tensor> results(Net& net, const nnapi::Model& model) {
  std::vector<Tensor> arguments;
  net.random.seed(4);
  for (const nnapi::Boundary& input : model.inputs) {
    Tensor argument(fixed_values(model.at(input.operand).dims));
    argument.values = nnapi::testing::random_values(net.random, argument.values.size());
    arguments.push_back(argument);
  }
  return nnapi::testing::run(model, arguments);
}

// The largest weight of each output channel, the largest of these over the least.
double spread_of(const nnapi::Model& model, const Operation& operation) {
  const nnapi::Constant& filter = *model.at(operation.inputs[1]).constant();
  const std::vector<float> values = filter.floats();
  const bool is_depthwise = operation.code == OperationCode::DEPTHWISE_CONV_2D;
  const size_t channels = static_cast<size_t>(is_depthwise ? filter.shape().back() : filter.shape()[0]);
  const size_t inner = is_depthwise ? 1 : values.size() / channels;
  std::vector<double> largest(channels, 0);
  for (size_t i = 0; i < values.size(); ++i) {
    double& of_channel = largest[i / inner % channels];
    of_channel = std::max(of_channel, std::abs(static_cast<double>(values[i])));
  }
  return *std::max_element(largest.begin(), largest.end()) / *std::min_element(largest.begin(), largest.end());
}

}  // namespace

TEST_CASE("equalise: a depthwise layer between two others") {
  Net net;
  const OperandId x = net.conv(net.input({1, 3, 6, 6}), 8);
  net.output(net.conv(net.max_pool(net.depthwise(x)), 4));
  spread(net.model, net.model.operations[1], 100);
  const Equalised equal = equalise(net.model, observed(net.model, 1), {});
  CHECK(equal.pairs == 2);
  CHECK(spread_of(net.model, net.model.operations[1]) > 50);
  CHECK(spread_of(equal.model, equal.model.operations[1]) < 20);
  const std::vector<Tensor> before = results(net, net.model), after = results(net, equal.model);
  CHECK(nnapi::testing::close(before[0], after[0]));
}

TEST_CASE("equalise: fully connected layers, with RELU between") {
  Net net;
  const OperandId x = net.unary(OperationCode::RELU, net.fully_connected(net.input({2, 5}), 7));
  net.output(net.fully_connected(x, 4));
  spread(net.model, net.model.operations[0], 100);
  const Equalised equal = equalise(net.model, observed(net.model, 1), {});
  CHECK(equal.pairs == 1);
  CHECK(nnapi::testing::close(results(net, net.model)[0], results(net, equal.model)[0]));
}

TEST_CASE("equalise: nothing where a layer has other readers, or tanh follows") {
  Net net;
  const OperandId x = net.conv(net.input({1, 3, 6, 6}), 4), y = net.unary(OperationCode::TANH, net.conv(x, 4));
  net.output(net.binary(OperationCode::ADD, x, net.conv(y, 4)));
  CHECK(equalise(net.model, observed(net.model, 1), {}).pairs == 0);
}

TEST_CASE("equalise: RELU6 goes where no sample reaches 6, or where that is asked for") {
  Net net;
  const OperandId x = net.unary(OperationCode::RELU6, net.conv(net.input({1, 3, 6, 6}), 4));
  net.output(net.conv(x, 4));
  const Equalised low = equalise(net.model, observed(net.model, 2), {});
  CHECK(low.pairs == 1);
  CHECK(nnapi::testing::count(low.model, OperationCode::RELU) == 1);
  const Equalised high = equalise(net.model, observed(net.model, 6), {});
  CHECK(high.pairs == 0);
  CHECK(high.has_clipping);
  CHECK(equalise(net.model, observed(net.model, 6), {true}).pairs == 1);
}

TEST_CASE("equalise: dead channels stay") {
  Net net;
  const OperandId x = net.fully_connected(net.input({1, 3}), 4);
  net.output(net.fully_connected(x, 4));
  nnapi::Operand& filter = net.model.at(net.model.operations[0].inputs[1]);
  std::vector<float> values = filter.constant()->floats();
  for (size_t i = 0; i < 3; ++i) values[i] = 0;
  filter.value = nnapi::Constant::of_floats(values, {4, 3});
  const Equalised equal = equalise(net.model, observed(net.model, 1), {});
  CHECK(equal.pairs == 1);
  CHECK(nnapi::testing::close(results(net, net.model)[0], results(net, equal.model)[0]));
}
