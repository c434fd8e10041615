// SPDX-License-Identifier: BSD-3-Clause
// Tests that a front end serves several plans of a model: a graph is normalised once for all of them.
#include "lib/converter/frontend/frontend.h"

#include <ATen/ATen.h>

#include <catch2/catch.hpp>

#include "tests/converter/fixtures.h"

namespace nnapi_convert {
namespace {

using test::options_for;

// A product that NNAPI runs whole.
LoadedModel whole_model() {
  return test::from_source("def forward(self, x):\n  return torch.relu(torch.matmul(x, self.w))\n",
                           {{"w", test::random_floats({64, 64}, 1)}});
}

// Two products around an operation that NNAPI lacks.
LoadedModel divided_model() {
  return test::from_source(
      "def forward(self, x):\n"
      "  y = torch.nextafter(torch.matmul(x, self.w), x)\n"
      "  return torch.matmul(y, self.w)\n",
      {{"w", test::random_floats({64, 64}, 1)}});
}

ConvertOptions options_at(int level, const ConvertOptions& options) {
  ConvertOptions result = options;
  result.feature_level = level;
  return result;
}

// Plans for each level, then converts.
Conversion convert_after_plans(Frontend& frontend, const ConvertOptions& options) {
  Diagnostics diagnostics;
  for (int level = 1; level <= 4; ++level) {
    CHECK(!plan_conversion(frontend, options_at(level, options), diagnostics).segments.empty());
  }
  return convert(frontend, options, {}, {}, diagnostics);
}

at::Tensor result_of(const Conversion& conversion, const at::Tensor& x) {
  test::use_host_nnapi();
  return test::run(conversion.runnable_module(), {x}).toTensor();
}

}  // namespace

TEST_CASE("all plans of a whole model share one graph") {
  const ConvertOptions options = options_for({"8,64"});
  Frontend frontend = make_frontend(whole_model(), options);
  const Conversion conversion = convert_after_plans(frontend, options);
  CHECK(frontend.normalisations() == 1);
  const at::Tensor x = test::random_floats({8, 64}, 2);
  CHECK(test::relative_error(test::run(whole_model().module, {x}).toTensor(), result_of(conversion, x)) < 1e-5);
}

TEST_CASE("all plans of a divided model share its two graphs") {
  ConvertOptions options = options_for({"64,64"});
  options.fallback = Fallback::kPartition;
  options.segments.min_macs = 0;
  Frontend frontend = make_frontend(divided_model(), options);
  const Conversion conversion = convert_after_plans(frontend, options);
  CHECK(frontend.normalisations() == 2);
  const at::Tensor x = test::random_floats({64, 64}, 2);
  CHECK(test::relative_error(test::run(divided_model().module, {x}).toTensor(), result_of(conversion, x)) < 1e-5);
}

TEST_CASE("a device's plan shares the graph with the others") {
  ConvertOptions options = options_for({"8,64"});
  options.device = std::make_shared<nnapi::DeviceProfile>(
      nnapi::DeviceProfile::read(NNAPI_CONVERT_FIXTURES "/../../schemas/profiles/armnn-1.3.json"));
  Frontend frontend = make_frontend(whole_model(), options);
  Diagnostics diagnostics;
  CHECK(plan_conversion(frontend, options, diagnostics).is_whole);
  options.device = nullptr;
  CHECK(convert(frontend, options, {}, {}, diagnostics).is_whole);
  CHECK(frontend.normalisations() == 1);
}

TEST_CASE("a model that can't be typed gives the same error to every plan") {
  const ConvertOptions options = options_for({"8,63"});
  Frontend frontend = make_frontend(whole_model(), options);
  Diagnostics diagnostics;
  const auto plan = [&] { plan_conversion(frontend, options, diagnostics); };
  const std::string error = test::error_of(ExitCode::kNotConvertible, plan);
  CHECK(!error.empty());
  CHECK(error == test::error_of(ExitCode::kNotConvertible, plan));
  CHECK(frontend.normalisations() == 1);
}

}  // namespace nnapi_convert
