// SPDX-License-Identifier: BSD-3-Clause
// Which operations compute with integers, and NNAPI's rules for their scales.
#include "lib/quantise/assign.h"

#include <catch2/catch.hpp>

#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::quantise;
using nnapi::OperandId;
using nnapi::testing::Net;

namespace {

// Each float variable has values from -1 to its own highest one.
Observations observed(const nnapi::Model& model) {
  Observations observations;
  observations.histograms.resize(model.operands.size());
  observations.channels.resize(model.operands.size());
  for (size_t i = 0; i < model.operands.size(); ++i) {
    if (!is_float_variable(model.operands[i])) continue;
    const float values[] = {-1, 0, 1 + 0.25f * static_cast<float>(i)};
    observations.histograms[i].add(values, 3);
  }
  return observations;
}

Assignment assigned(const nnapi::Model& model, const Observations& observations, int feature_level = 3) {
  return assign({model, observations, {feature_level, false}, RangeMethod::kMinMax, {}});
}

Assignment assigned(const nnapi::Model& model, int feature_level = 3) {
  return assigned(model, observed(model), feature_level);
}

void set_values(Observations& observations, OperandId id, const std::vector<float>& values) {
  Histogram& histogram = observations.histograms[static_cast<size_t>(id)];
  histogram = {};
  if (!values.empty()) histogram.add(values.data(), values.size());
}

const nnapi::Scale& scale_of(const Assignment& assignment, OperandId id) {
  return *assignment.scales[static_cast<size_t>(id)];
}

}  // namespace

TEST_CASE("assign: what only moves values has one scale on both sides") {
  Net net;
  const OperandId x = net.conv(net.input({1, 3, 8, 8}), 4);
  const OperandId pooled = net.max_pool(x);
  const OperandId flat = net.reshape(pooled, {1, 64});
  net.output(net.fully_connected(flat, 5));
  const Assignment assignment = assigned(net.model);
  CHECK(assignment.integer_count() == 4);
  CHECK(scale_of(assignment, x) == scale_of(assignment, pooled));
  CHECK(scale_of(assignment, x) == scale_of(assignment, flat));
}

TEST_CASE("assign: fixed scales, also of what is moved behind") {
  Net net;
  const OperandId logits = net.fully_connected(net.input({2, 6}), 4);
  const OperandId sure = net.softmax(logits, 1);
  const OperandId moved = net.reshape(sure, {8});
  net.output(moved);
  Observations observations = observed(net.model);
  for (const OperandId id : {sure, moved}) set_values(observations, id, {0, 0.3f, 0.7f});
  const Assignment assignment = assigned(net.model, observations);
  CHECK(assignment.integer_count() == 3);
  CHECK(scale_of(assignment, sure) == nnapi::Scale{1.0f / 256, 0});
  CHECK(scale_of(assignment, moved) == nnapi::Scale{1.0f / 256, 0});
  CHECK(scale_of(assignment, logits) != nnapi::Scale{1.0f / 256, 0});
}

TEST_CASE("assign: CONCATENATION ties its tensors below level 3 alone") {
  for (const int level : {1, 3}) {
    Net net;
    const OperandId x = net.input({2, 6});
    const OperandId a = net.fully_connected(x, 4), b = net.fully_connected(x, 3);
    net.output(net.concatenation({a, b}, 1));
    const Assignment assignment = assigned(net.model, level);
    CHECK(assignment.integer_count() == 3);
    CHECK((scale_of(assignment, a) == scale_of(assignment, b)) == (level < 3));
  }
}

TEST_CASE("assign: a tensor that would need two fixed scales costs an operation its integers") {
  Net net;
  const OperandId x = net.fully_connected(net.input({2, 6}), 4);
  const OperandId a = net.softmax(x, 1), b = net.unary(OperationCode::TANH, x);
  net.output(net.fully_connected(net.concatenation({a, b}, 1), 4));
  const Assignment assignment = assigned(net.model, 1);
  CHECK(assignment.integer_count() < net.model.operations.size());
  CHECK(assignment.integer_count() > 0);
}

TEST_CASE("assign: a fixed scale that clips what it is tied to costs an operation its integers") {
  Net net;
  const OperandId x = net.fully_connected(net.input({2, 6}), 4);
  const OperandId sure = net.unary(OperationCode::LOGISTIC, x), other = net.fully_connected(x, 4);
  net.output(net.fully_connected(net.concatenation({sure, other}, 1), 4));
  Observations observations = observed(net.model);
  set_values(observations, sure, {0, 0.5f, 0.9f});
  CHECK(assigned(net.model, observations, 3).integer_count() == net.model.operations.size());
  CHECK(assigned(net.model, observations, 1).integer_count() < net.model.operations.size());
  set_values(observations, other, {0, 0.25f, 0.75f});
  set_values(observations, net.model.operations[3].outputs[0], {0, 0.25f, 0.9f});
  CHECK(assigned(net.model, observations, 1).integer_count() == net.model.operations.size());
}

TEST_CASE("assign: what a fixed scale rounds away stays float where floats and integers mix") {
  Net net;
  const OperandId x = net.fully_connected(net.input({2, 6}), 4);
  const OperandId sure = net.unary(OperationCode::LOGISTIC, x);
  net.output(net.fully_connected(sure, 4));
  Observations observations = observed(net.model);
  set_values(observations, sure, {0.0015f, 0.0025f, 0.003f});
  CHECK_FALSE(assigned(net.model, observations, 3).is_integer[1]);
  CHECK(assigned(net.model, observations, 1).is_integer[1]);
  set_values(observations, sure, {0.2f, 0.3f, 0.5f});
  CHECK(assigned(net.model, observations, 3).is_integer[1]);
}

TEST_CASE("assign: a tensor that nothing was measured of has no scale") {
  Net net;
  const OperandId x = net.fully_connected(net.input({2, 6}), 4);
  const OperandId y = net.fully_connected(x, 4);
  net.output(net.fully_connected(y, 4));
  Observations observations = observed(net.model);
  set_values(observations, y, {});
  const Assignment assignment = assigned(net.model, observations);
  CHECK(assignment.is_integer[0]);
  CHECK_FALSE(assignment.is_integer[1]);
  CHECK_FALSE(assignment.is_integer[2]);
}

TEST_CASE("assign: the output of MUL has a larger scale than the product of its inputs") {
  Net net;
  const OperandId x = net.fully_connected(net.input({2, 6}), 4), y = net.fully_connected(x, 4);
  const OperandId z = net.binary(OperationCode::MUL, x, y);
  net.output(net.fully_connected(z, 4));
  Observations observations = observed(net.model);
  const float large[] = {-1000, 1000}, small[] = {-0.1f, 0.1f};
  for (const OperandId id : {x, y}) observations.histograms[static_cast<size_t>(id)].add(large, 2);
  observations.histograms[static_cast<size_t>(z)] = {};
  observations.histograms[static_cast<size_t>(z)].add(small, 2);
  const Assignment assignment = assign({net.model, observations, {3, false}, RangeMethod::kMinMax, {}});
  REQUIRE(assignment.integer_count() == 4);
  CHECK(static_cast<double>(scale_of(assignment, z).scale) >
        static_cast<double>(scale_of(assignment, x).scale) * static_cast<double>(scale_of(assignment, y).scale));
}

TEST_CASE("assign: operations without an integer form, and those that are kept, stay float") {
  Net net;
  const OperandId x = net.fully_connected(net.input({20, 60}), 40);
  const OperandId root = net.unary(OperationCode::SQRT, x);
  const OperandId flat = net.reshape(root, {800});
  net.output(flat);
  const Assignment assignment = assigned(net.model);
  CHECK(assignment.is_integer == std::vector<bool>{true, false, false});  // moving floats saves QUANTIZE
  const Observations observations = observed(net.model);
  const Assignment kept = assign({net.model, observations, {3, false}, RangeMethod::kMinMax, {true, false, false}});
  CHECK(kept.integer_count() == 0);
}

TEST_CASE("assign: scales of weights hold tiny weights under large biases, and dead channels") {
  Net net;
  const OperandId x = net.input({1, 4});
  const std::vector<float> tiny = {1e-20f, 0, 0, 1e-21f};
  const OperandId filter = net.builder.tensor(nnapi::Constant::of_floats(tiny, {1, 4}));
  const OperandId bias = net.builder.tensor(nnapi::Constant::of_floats({1000}));
  net.output(net.builder.add(OperationCode::FULLY_CONNECTED, {x, filter, bias, net.builder.int32(0)},
                             nnapi::testing::float_type({1, 1})));
  const nnapi::Scale scale = filter_scale(net.model, net.model.operations[0], {0.5f, 0}, {});
  CHECK(1000 / (0.5 * static_cast<double>(scale.scale)) < 2147483647.0);
}

TEST_CASE("assign: weights on a symmetric grid keep it") {
  Net net;
  const OperandId x = net.input({1, 4});
  const float step = 0.037f;
  const std::vector<float> values = {-127 * step, 3 * step, 44 * step, 90 * step};
  const OperandId filter = net.builder.tensor(nnapi::Constant::of_floats(values, {1, 4}));
  const OperandId bias = net.builder.tensor(nnapi::Constant::of_floats({0}));
  net.output(net.builder.add(OperationCode::FULLY_CONNECTED, {x, filter, bias, net.builder.int32(0)},
                             nnapi::testing::float_type({1, 1})));
  const nnapi::Scale scale = filter_scale(net.model, net.model.operations[0], {0.5f, 0}, {});
  CHECK(scale.zero_point == 128);
  CHECK(scale.scale == Approx(step));
}

TEST_CASE("assign: weights that have to be symmetric are, however uneven their range") {
  Net net;
  const OperandId x = net.input({1, 4});
  const OperandId filter = net.builder.tensor(nnapi::Constant::of_floats({-1, 0.333f, 5.0123f, 12.7f}, {1, 4}));
  const OperandId bias = net.builder.tensor(nnapi::Constant::of_floats({0}));
  net.output(net.builder.add(OperationCode::FULLY_CONNECTED, {x, filter, bias, net.builder.int32(0)},
                             nnapi::testing::float_type({1, 1})));
  WeightCache cache;
  nnapi::IntegerRules rules;
  CHECK(filter_scale(net.model, net.model.operations[0], {0.5f, 0}, rules, &cache).zero_point != 128);
  rules.symmetric_weights = true;
  const nnapi::Scale scale = filter_scale(net.model, net.model.operations[0], {0.5f, 0}, rules, &cache);
  CHECK(scale.zero_point == 128);
  CHECK(scale.scale == Approx(0.1f));
}
