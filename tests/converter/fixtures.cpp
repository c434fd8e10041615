// SPDX-License-Identifier: BSD-3-Clause
#include "tests/converter/fixtures.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/InferenceMode.h>
#include <dlfcn.h>
#include <torch/csrc/jit/frontend/resolver.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "lib/converter/graph/quantised_engine.h"
#include "lib/converter/verify/verify.h"
#include "tools/nnapi-convert/input_spec.h"

namespace nnapi_convert::test {

void use_host_nnapi() {
  static void* const library = [] {
    choose_quantised_engine();
    return dlopen(host_library_path().c_str(), RTLD_NOW | RTLD_GLOBAL);
  }();
  if (library == nullptr) throw std::runtime_error("can't load the host's NNAPI");
}

std::string fixture_path(const std::string& name) {
  return std::string(NNAPI_CONVERT_FIXTURES) + "/" + name;
}

LoadedModel load_fixture(const std::string& name) {
  use_host_nnapi();
  Diagnostics ignored;
  return load_model(fixture_path(name), ignored);
}

LoadedModel from_source(const std::string& source, const NamedTensors& tensors) {
  use_host_nnapi();
  torch::jit::Module module("FromSource");
  module.register_attribute("training", c10::BoolType::get(), false);
  for (const auto& [name, tensor] : tensors) module.register_attribute(name, c10::TensorType::get(), tensor);
  module.define(source, torch::jit::nativeResolver());
  return {"source", module, {}};
}

ConvertOptions options_for(const std::vector<std::string>& inputs, bool nhwc) {
  ConvertOptions options;
  for (const std::string& input : inputs) options.inputs.push_back(parse_input_spec(input));
  options.layout.nhwc = nhwc;
  options.layout.is_explicit = true;
  return options;
}

Conversion convert_fixture(const std::string& name, const ConvertOptions& options, Diagnostics& diagnostics) {
  return convert(load_fixture(name), options, diagnostics);
}

Conversion convert_fixture(const std::string& name, const ConvertOptions& options) {
  Diagnostics ignored;
  return convert_fixture(name, options, ignored);
}

c10::IValue run(const torch::jit::Module& module, const Tensors& inputs) {
  c10::InferenceMode guard;
  torch::jit::Module copy = module;
  return copy.forward(std::vector<c10::IValue>(inputs.begin(), inputs.end()));
}

std::string run_error(const torch::jit::Module& module, const Tensors& inputs) {
  try {
    run(module, inputs);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

at::Tensor random_floats(const std::vector<int64_t>& sizes, uint64_t seed) {
  return at::randn(sizes, at::detail::createCPUGenerator(seed), at::TensorOptions(at::kFloat));
}

at::Tensor quantised(const at::Tensor& tensor, double scale, int64_t zero_point) {
  return at::quantize_per_tensor(tensor, scale, zero_point, at::kQUInt8);
}

double relative_error(const at::Tensor& expected, const at::Tensor& found) {
  const at::Tensor left = expected.is_quantized() ? expected.dequantize() : expected;
  const at::Tensor right = found.is_quantized() ? found.dequantize() : found;
  REQUIRE(left.sizes() == right.sizes());
  const double range = (left.max() - left.min()).item().toDouble();
  REQUIRE(range > 0);
  return (left - right).abs().max().item().toDouble() / range;
}

std::string read_bytes(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace nnapi_convert::test
