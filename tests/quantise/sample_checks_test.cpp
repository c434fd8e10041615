// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/sample_checks.h"

#include <catch2/catch.hpp>
#include <limits>

#include "lib/base/error.h"
#include "tests/nnapi/small_models.h"

namespace nnapi_convert::quantise {
namespace {

using nnapi::OperandId;
using nnapi::testing::Net;

// What samples would have shown: these values in one operand, 0 and 1 in the others.
Observations observed(const Net& net, OperandId id, const std::vector<float>& values) {
  Observations result;
  result.histograms.resize(net.model.operands.size());
  const float others[] = {0, 1};
  for (Histogram& histogram : result.histograms) histogram.add(others, 2);
  result.histograms[static_cast<size_t>(id)] = Histogram();
  result.histograms[static_cast<size_t>(id)].add(values.data(), values.size());
  return result;
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST_CASE("a tensor without a finite value is named by its operation and line") {
  Net net;
  net.builder.set_source("model.py:7");
  const OperandId result = net.unary(OperationCode::RELU, net.input({2, 3}));
  net.output(result);
  std::vector<std::string> warnings;
  try {
    check_samples(net.model, observed(net, result, {kInfinity, -kInfinity}), warnings);
    FAIL("no error");
  } catch (const ConvertError& error) {
    CHECK(std::string(error.what()).find("the result of RELU (at model.py:7), has no finite value") !=
          std::string::npos);
  }
}

TEST_CASE("results that are no numbers in float are warned of") {
  Net net;
  const OperandId result = net.unary(OperationCode::RELU, net.input({2, 2}));
  net.output(result);
  std::vector<std::string> warnings;
  check_samples(net.model, observed(net, result, {kInfinity, 1, 2, 3}), warnings);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("25% of the float model's output 0 is NaN or infinite") != std::string::npos);
}

TEST_CASE("an input that is the same everywhere is warned of") {
  Net net;
  const OperandId input = net.input({2, 3});
  net.output(net.unary(OperationCode::RELU, input));
  std::vector<std::string> warnings;
  check_samples(net.model, observed(net, input, {0.5, 0.5}), warnings);
  check_samples(net.model, observed(net, input, {-0.0f, -0.0f}), warnings);
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0].find("input 0 is 0.5 everywhere") != std::string::npos);
  CHECK(warnings[1].find("input 0 is 0 everywhere") != std::string::npos);
}

}  // namespace
}  // namespace nnapi_convert::quantise
