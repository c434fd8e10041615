// SPDX-License-Identifier: BSD-3-Clause
// The integer form of a model: valid, with as few QUANTIZE and DEQUANTIZE as its islands need.
#include "lib/quantise/rewrite.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/validate.h"
#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::quantise;
using nnapi::OperandId;
using nnapi::testing::count;
using nnapi::testing::Net;

namespace {

struct Form {
  bool per_channel = false, integer_inputs = false, integer_outputs = false;
  int feature_level = 3;
};

nnapi::Model integer_form(const nnapi::Model& model, const Form& form) {
  Observations observations;
  observations.histograms.resize(model.operands.size());
  observations.channels.resize(model.operands.size());
  const float values[] = {-1, 3};
  for (Histogram& histogram : observations.histograms) histogram.add(values, 2);
  const nnapi::IntegerRules rules{form.feature_level, form.per_channel};
  const Assignment assignment = assign({model, observations, rules, RangeMethod::kMinMax, {}});
  nnapi::Model result = rewrite(model, {assignment, rules, form.integer_inputs, form.integer_outputs}).model;
  nnapi::compact(result);
  CHECK(nnapi::validate(result, form.feature_level) == std::vector<std::string>{});
  return result;
}

// conv, relu-like square root, conv: an island on each side of a float one.
void two_islands(Net& net) {
  const OperandId x = net.conv(net.input({1, 3, 8, 8}), 4);
  const OperandId root = net.unary(OperationCode::SQRT, x);
  net.output(net.conv(root, 4));
}

}  // namespace

TEST_CASE("rewrite: floats outside, integers inside") {
  Net net;
  net.output(net.conv(net.max_pool(net.conv(net.input({1, 3, 8, 8}), 4)), 4));
  const nnapi::Model model = integer_form(net.model, {});
  CHECK(count(model, OperationCode::QUANTIZE) == 1);
  CHECK(count(model, OperationCode::DEQUANTIZE) == 1);
  CHECK(model.operations.size() == 5);
  CHECK(model.at(model.inputs[0].operand).type == OperandCode::TENSOR_FLOAT32);
  CHECK(model.at(model.outputs[0].operand).type == OperandCode::TENSOR_FLOAT32);
}

TEST_CASE("rewrite: integers at the boundary") {
  Net net;
  net.output(net.conv(net.input({1, 3, 8, 8}), 4));
  const nnapi::Model model = integer_form(net.model, {false, true, true, 3});
  CHECK(model.operations.size() == 1);
  CHECK(model.at(model.inputs[0].operand).type == OperandCode::TENSOR_QUANT8_ASYMM);
  CHECK(model.at(model.outputs[0].operand).type == OperandCode::TENSOR_QUANT8_ASYMM);
}

TEST_CASE("rewrite: a float operation between two islands") {
  Net net;
  two_islands(net);
  const nnapi::Model model = integer_form(net.model, {});
  CHECK(count(model, OperationCode::QUANTIZE) == 2);
  CHECK(count(model, OperationCode::DEQUANTIZE) == 2);
  CHECK(model.operations.size() == 7);
}

TEST_CASE("rewrite: one QUANTIZE and one DEQUANTIZE serve all readers") {
  Net net;
  const OperandId x = net.input({1, 4, 8, 8});
  const OperandId y = net.conv(x, 4), z = net.conv(x, 4);
  net.output(net.unary(OperationCode::SQRT, y));
  net.output(net.unary(OperationCode::ABS, y));
  net.output(z);
  const nnapi::Model model = integer_form(net.model, {});
  CHECK(count(model, OperationCode::QUANTIZE) == 1);
  CHECK(count(model, OperationCode::DEQUANTIZE) == 2);
}

TEST_CASE("rewrite: a scale for each channel of a convolution, none of FULLY_CONNECTED") {
  Net net;
  const OperandId x = net.conv(net.input({1, 3, 4, 4}), 4);
  net.output(net.fully_connected(net.reshape(net.depthwise(x), {1, 64}), 5));
  const nnapi::Model model = integer_form(net.model, {true});
  const auto filter_of = [&](OperationCode code) { return model.at(nnapi::testing::the(model, code).inputs[1]); };
  CHECK(filter_of(OperationCode::CONV_2D).channels->scales.size() == 4);
  CHECK(filter_of(OperationCode::DEPTHWISE_CONV_2D).channels->axis == 3);
  CHECK(filter_of(OperationCode::FULLY_CONNECTED).type == OperandCode::TENSOR_QUANT8_ASYMM);
}

TEST_CASE("rewrite: an input that floats and integers read") {
  Net net;
  const OperandId x = net.input({1, 4, 8, 8});
  net.output(net.conv(x, 4));
  net.output(net.unary(OperationCode::ABS, x));
  const nnapi::Model model = integer_form(net.model, {false, true, true, 3});
  CHECK(model.at(model.inputs[0].operand).type == OperandCode::TENSOR_QUANT8_ASYMM);
  CHECK(count(model, OperationCode::DEQUANTIZE) == 1);
}
