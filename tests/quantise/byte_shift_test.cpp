// SPDX-License-Identifier: BSD-3-Clause
// A constant that is added to bytes: in integers, where these tell it well enough.
#include "lib/quantise/byte_shift.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/validate.h"
#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::quantise;
using nnapi::OperandId;
using nnapi::testing::codes;
using nnapi::testing::float_type;
using nnapi::testing::Net;
using nnapi::testing::quant_type;

namespace {

const Dims kSizes = {1, 4, 5, 3};

// bytes + shifts, quantised with this scale.
OperandId shifted(Net& net, const std::vector<float>& shifts, float scale) {
  const OperandId bytes = net.model.add(quant_type(kSizes, 1));
  net.model.inputs.push_back({bytes});
  const OperandId floats = net.builder.add(OperationCode::DEQUANTIZE, {bytes}, float_type(kSizes));
  const auto channels = static_cast<int64_t>(shifts.size());
  const OperandId constant = net.builder.tensor(nnapi::Constant::of_floats(shifts, {1, 1, 1, channels}));
  const OperandId sum = net.binary(OperationCode::ADD, floats, constant);
  net.output(net.builder.add(OperationCode::QUANTIZE, {sum}, quant_type(kSizes, scale, 115)));
  return sum;
}

}  // namespace

TEST_CASE("shift_bytes: DEQUANTIZE, ADD and QUANTIZE become an ADD of integers") {
  Net net;
  shifted(net, {-123.675F, -116.28F, -103.53F}, 1.079F);
  shift_bytes(net.model);
  CHECK(nnapi::validate(net.model, 3) == std::vector<std::string>{});
  REQUIRE(codes(net.model) == std::vector<OperationCode>{OperationCode::ADD});
  const nnapi::Operation& add = net.model.operations[0];
  CHECK(add.inputs[0] == net.model.inputs[0].operand);
  CHECK(add.outputs[0] == net.model.outputs[0].operand);
  const nnapi::Operand& constant = net.model.at(add.inputs[1]);
  const std::vector<uint8_t> stored = constant.constant()->bytes();
  const double needed[] = {-123.675, -116.28, -103.53};
  for (size_t i = 0; i < 3; ++i) {
    CHECK(static_cast<double>(constant.scale) * (stored[i] - constant.zero_point) == Approx(needed[i]).margin(0.1));
  }
}

TEST_CASE("shift_bytes: floats stay where integers are too coarse") {
  Net net;
  shifted(net, {-1000, 0.3F, 1.1F}, 0.1F);
  shift_bytes(net.model);
  CHECK(net.model.operations.size() == 3);
}

TEST_CASE("shift_bytes: floats stay where another operation reads the sum") {
  Net net;
  net.output(shifted(net, {-123.675F, -116.28F, -103.53F}, 1.079F));
  shift_bytes(net.model);
  CHECK(net.model.operations.size() == 3);
}

TEST_CASE("shift_bytes: a sum of 0") {
  Net net;
  shifted(net, {0}, 1);
  shift_bytes(net.model);
  CHECK(nnapi::validate(net.model, 3) == std::vector<std::string>{});
  CHECK(net.model.operations.size() == 1);
}
