// SPDX-License-Identifier: BSD-3-Clause
// Buffers with float16 or int8 weights that are refused, each with its sentence.
#include <catch2/catch.hpp>
#include <functional>

#include "tests/shim/buffer_checks.h"
#include "tests/shim/three_operations.h"

using namespace nnapi_shim;
using namespace nnapi_shim::testing;
using Catch::Contains;
using format::ValueSource;

namespace {

using Change = std::function<void(Description&, Value& weight)>;

std::string refusal_of(Description net, const Change& change) {
  change(net, net.models[0].values[0]);
  return refusal(make_buffer(net));
}

}  // namespace

TEST_CASE("refused: float16 weights") {
  const auto weight_refusal = [](const Change& change) { return refusal_of(three_operations_float16(), change); };
  parse_good(make_buffer(three_operations_float16()));
  CHECK_THAT(weight_refusal([](Description& net, Value&) { net.version = 2; }),
             Contains("value source 4 found, 0 to 3 needed"));
  CHECK_THAT(weight_refusal([](Description& net, Value&) { net.models[0].operands[1].type = 4; }),
             Contains("float16 weights found as value of operand 1, which is no TENSOR_FLOAT32"));
  CHECK_THAT(
      weight_refusal([](Description& net, Value&) { net.models[0].operands[1].dims = {Size::of_expression(0)}; }),
      Contains("float16 weights found as value of operand 1, whose sizes are flexible"));
  CHECK_THAT(weight_refusal([](Description&, Value& weight) { weight.bytes.pop_back(); }),
             Contains("length 127 of the value of operand 1 found, 128 needed"));
  CHECK_THAT(weight_refusal([](Description&, Value& weight) { weight.bytes.resize(256); }),
             Contains("length 256 of the value of operand 1 found, 128 needed"));
}

TEST_CASE("refused: int8 weights") {
  const auto weight_refusal = [](const Change& change) { return refusal_of(three_operations_int8(), change); };
  parse_good(make_buffer(three_operations_int8()));
  CHECK_THAT(weight_refusal([](Description& net, Value&) { net.version = 3; }),
             Contains("channel axis 0 of operand 1 of type 3 found, -1 needed"));
  CHECK_THAT(weight_refusal([](Description& net, Value&) {
               net.version = 3;
               net.models[0].operands[1].channel_axis = -1;
               net.models[0].operands[1].channel_scales.clear();
             }),
             Contains("value source 5 found, 0 to 4 needed"));
  CHECK_THAT(weight_refusal([](Description& net, Value&) {
               net.models[0].operands[1].channel_axis = -1;
               net.models[0].operands[1].channel_scales.clear();
             }),
             Contains("int8 weights found as value of operand 1, which has no scales"));
  CHECK_THAT(weight_refusal([](Description& net, Value&) { net.models[0].operands[1].channel_scales.pop_back(); }),
             Contains("63 channel scales of operand 1 found, 64 needed"));
  CHECK_THAT(
      weight_refusal([](Description& net, Value&) { net.models[0].operands[1].dims = {Size::of_expression(0)}; }),
      Contains("64 channel scales of operand 1 found, 0 needed"));
  CHECK_THAT(weight_refusal([](Description&, Value& weight) { weight.bytes.pop_back(); }),
             Contains("length 63 of the value of operand 1 found, 64 needed"));
  CHECK_THAT(weight_refusal([](Description&, Value& weight) {
               weight.source = ValueSource::kWeight;
               weight.bytes.resize(256);
             }),
             Contains("1 operands found that have scales and no int8 weights"));
  CHECK_THAT(weight_refusal([](Description& net, Value&) {
               net.models[0].operands[3].channel_axis = 1;
               net.models[0].operands[3].channel_scales.assign(64, 1.0f);
             }),
             Contains("1 operands found that have scales and no int8 weights"));
}
