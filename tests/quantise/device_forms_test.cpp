// SPDX-License-Identifier: BSD-3-Clause
// Which operations have to stay float so that a device takes the integer form of a model.
#include "lib/quantise/device_forms.h"

#include <catch2/catch.hpp>

#include <string>

#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::quantise;
using nnapi::OperandId;
using nnapi::testing::Net;
using Numbers = std::vector<size_t>;

namespace {

constexpr int kLevel = 3;

nnapi::DeviceProfile device_that_refuses(const std::string& rules) {
  return nnapi::DeviceProfile::parse(
      R"({"version": 1, "device": {"name": "d", "version": "1", "type": "other", "feature_level": 3}, "refuses": [)" +
          rules + "]}",
      "profile");
}

Numbers refused(const nnapi::Model& model, const std::string& rules, const std::vector<bool>& kept = {}) {
  Observations observations;
  observations.histograms.resize(model.operands.size());
  observations.channels.resize(model.operands.size());
  const float values[] = {-1, 3};
  for (Histogram& histogram : observations.histograms) histogram.add(values, 2);
  const nnapi::IntegerRules level{kLevel, false};
  const Assignment assignment = assign({model, observations, level, RangeMethod::kMinMax, kept});
  return refused_integers(device_that_refuses(rules), model, assignment, rewrite(model, {assignment, level}));
}

// Two convolutions of other sizes.
void two_convolutions(Net& net) {
  net.output(net.conv(net.conv(net.input({1, 3, 8, 8}), 4), 5));
}

constexpr const char* kSecond = R"({"operations": ["CONV_2D"], "types": {"input": ["TENSOR_QUANT8_ASYMM"]},
                                    "sizes": {"output": [[1, 5, 8, 8]]}})";

}  // namespace

TEST_CASE("device forms: an operation that is refused in integers alone") {
  Net net;
  two_convolutions(net);
  CHECK(refused(net.model, kSecond) == Numbers{1});
  CHECK(refused(net.model, kSecond, {false, true}).empty());
}

TEST_CASE("device forms: an operation that is refused in floats, too, keeps its integers") {
  Net net;
  two_convolutions(net);
  CHECK(refused(net.model, R"({"operations": ["CONV_2D"], "sizes": {"output": [[1, 5, 8, 8]]}})").empty());
}

TEST_CASE("device forms: the readers of a QUANTIZE, and what a DEQUANTIZE reads") {
  Net net;
  two_convolutions(net);
  CHECK(refused(net.model, R"({"operations": ["QUANTIZE"], "sizes": {"output": [[1, 3, 8, 8]]}})") == Numbers{0});
  CHECK(refused(net.model, R"({"operations": ["DEQUANTIZE"], "sizes": {"output": [[1, 5, 8, 8]]}})") == Numbers{1});
}

TEST_CASE("device forms: a device without QUANTIZE keeps its integers") {
  Net net;
  two_convolutions(net);
  CHECK(refused(net.model, R"({"operations": ["QUANTIZE", "DEQUANTIZE"]})").empty());
}
