// SPDX-License-Identifier: BSD-3-Clause
// Random and bundled inputs.
#include "lib/converter/frontend/sample_inputs.h"

#include <ATen/ATen.h>

#include <catch2/catch.hpp>

#include "tests/converter/fixtures.h"

namespace nnapi_convert {
namespace {

using namespace test;
using Catch::Contains;

TensorType image(at::ScalarType dtype = at::kFloat, Quantization quantization = {}) {
  return {dtype, to_dims({1, 3, 8, 8}), quantization};
}

ModuleInterface interface_of(std::vector<TensorType> types) {
  ModuleInterface interface;
  for (size_t i = 0; i < types.size(); ++i) {
    interface.inputs.push_back({"input_" + std::to_string(i), types[i], std::nullopt, true, types[i]});
  }
  return interface;
}

}  // namespace

TEST_CASE("the seed decides the values") {
  const at::Tensor one = random_tensor(image(), 1, 1);
  CHECK(one.equal(random_tensor(image(), 1, 1)));
  CHECK_FALSE(one.equal(random_tensor(image(), 2, 1)));
  CHECK(one.std().item().toDouble() == Approx(1).margin(0.2));
}

TEST_CASE("flexible sizes get the size asked for") {
  TensorType type = image();
  type.dims[2] = Dim::of_input(0, 2);
  CHECK(random_tensor(type, 1, 5).sizes() == at::IntArrayRef({1, 3, 5, 8}));
}

TEST_CASE("quantised, whole and boolean values") {
  const at::Tensor quantised_values = random_tensor(image(at::kQUInt8, {0.02, 120}), 1, 1);
  CHECK(quantised_values.q_scale() == 0.02);
  CHECK(quantised_values.q_zero_point() == 120);
  CHECK(quantised_values.int_repr().max().item().toInt() > quantised_values.int_repr().min().item().toInt() + 50);
  const at::Tensor whole = random_tensor(image(at::kInt), 1, 1);
  CHECK(whole.min().item().toInt() == 0);
  CHECK(whole.max().item().toInt() == 9);
  const at::Tensor flags = random_tensor(image(at::kBool), 1, 1);
  CHECK(flags.any().item().toBool());
  CHECK_FALSE(flags.all().item().toBool());
}

TEST_CASE("bundled inputs are brought to the interface's dtype") {
  Diagnostics diagnostics;
  const at::Tensor floats = random_floats({1, 3, 8, 8}, 1);
  const auto samples = bundled_samples(interface_of({image(at::kQUInt8, {0.02, 120})}), {{floats}}, false, diagnostics);
  REQUIRE(samples.size() == 1);
  CHECK(samples[0][0].toTensor().int_repr().equal(quantised(floats, 0.02, 120).int_repr()));
  const auto back = bundled_samples(interface_of({image()}), {{quantised(floats, 0.02, 120)}}, false, diagnostics);
  REQUIRE(back.size() == 1);
  CHECK(back[0][0].toTensor().equal(quantised(floats, 0.02, 120).dequantize()));
  CHECK(diagnostics.warnings.empty());
}

TEST_CASE("bundled inputs that don't fit are left out with a warning") {
  const at::Tensor right = random_floats({1, 3, 8, 8}, 1);
  const std::vector<InputTuple> misfits = {{random_floats({1, 3, 8, 9}, 1)},
                                           {random_floats({3, 8, 8}, 1)},
                                           {right.to(at::kDouble)},
                                           {right, right},
                                           {c10::IValue(3)}};
  for (const InputTuple& misfit : misfits) {
    Diagnostics diagnostics;
    const auto samples = bundled_samples(interface_of({image()}), {misfit, {right}}, false, diagnostics);
    CHECK(samples.size() == 1);
    REQUIRE(diagnostics.warnings.size() == 1);
    CHECK_THAT(diagnostics.warnings[0].message(), Contains("doesn't fit the shape or dtype"));
  }
  Diagnostics diagnostics;
  const auto other_scale = quantised(right, 0.03, 120);
  CHECK(bundled_samples(interface_of({image(at::kQUInt8, {0.02, 120})}), {{other_scale}}, false, diagnostics).empty());
}

TEST_CASE("one sample is made where there is none and one is asked for") {
  Diagnostics diagnostics;
  const ModuleInterface interface = interface_of({image(), image(at::kQUInt8, {0.02, 120})});
  CHECK(bundled_samples(interface, {}, false, diagnostics).empty());
  const auto samples = bundled_samples(interface, {}, true, diagnostics);
  REQUIRE(samples.size() == 1);
  REQUIRE(samples[0].size() == 2);
  CHECK(samples[0][0].toTensor().scalar_type() == at::kFloat);
  CHECK(samples[0][1].toTensor().scalar_type() == at::kQUInt8);
  const auto kept = bundled_samples(interface_of({image()}), {{random_floats({1, 3, 8, 8}, 1)}}, true, diagnostics);
  CHECK(kept.size() == 1);
}

TEST_CASE("no sample can be made for flexible sizes") {
  TensorType type = image();
  type.dims[0] = Dim::of_input(0, 0);
  const std::string message = error_of(ExitCode::kUsage, [&] {
    Diagnostics ignored;
    bundled_samples(interface_of({type}), {}, true, ignored);
  });
  CHECK_THAT(message, Contains("--bundle-inputs: input input_0 has flexible sizes") && Contains("--input"));
}

}  // namespace nnapi_convert
