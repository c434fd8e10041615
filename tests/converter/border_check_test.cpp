// SPDX-License-Identifier: BSD-3-Clause
// Which differences at the borders of floats are found, and which are faults.
#include "lib/converter/verify/border_check.h"

#include <ATen/ATen.h>

#include <catch2/catch.hpp>
#include <limits>

#include "lib/base/error.h"

namespace nnapi_convert {
namespace {

// Whether it is a fault that a converted model gives `converted` where the original doubles floats from 0 to 7.
bool is_fault(const std::function<Tensors(const Values&)>& converted, bool is_approximate) {
  BorderSample sample;
  sample.values = {at::arange(8, at::TensorOptions(at::kFloat))};
  sample.is_float = true;
  const auto original = [](const Values& values) { return Tensors{values[0].toTensor().mul(2)}; };
  const auto findings = check_borders({sample}, 1, {original, converted, 1e-5, false, is_approximate});
  REQUIRE(findings.size() == 1);
  return findings[0].is_fault;
}

TEST_CASE("a finite difference of a model that is approximate on purpose is no fault") {
  const auto converted = [](const Values& values) { return Tensors{values[0].toTensor().mul(3)}; };
  CHECK(is_fault(converted, false));
  CHECK_FALSE(is_fault(converted, true));
}

TEST_CASE("infinite numbers, NaN and failures of an approximate model stay faults") {
  for (const float wrong : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    const auto converted = [wrong](const Values& values) {
      at::Tensor result = values[0].toTensor().mul(2);
      result[3] = wrong;
      return Tensors{result};
    };
    CHECK(is_fault(converted, true));
  }
  const auto fails = [](const Values&) -> Tensors { throw ConvertError(ExitCode::kVerificationFailed, "no device"); };
  CHECK(is_fault(fails, true));
}

TEST_CASE("a number's own dtype is a difference with PyTorch only") {
  BorderSample sample;
  sample.values = {at::arange(8, at::TensorOptions(at::kFloat))};
  const auto run = [](at::ScalarType dtype) {
    return [dtype](const Values& values) { return Tensors{values[0].toTensor().sum().to(dtype)}; };
  };
  BorderRuns runs{run(at::kDouble), run(at::kFloat)};
  CHECK(check_borders({sample}, 1, runs).size() == 1);
  runs.is_without_torch = true;
  CHECK(check_borders({sample}, 1, runs).empty());
}

}  // namespace
}  // namespace nnapi_convert
