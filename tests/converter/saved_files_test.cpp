// SPDX-License-Identifier: BSD-3-Clause
// Converted files: they load again, in the full and in the lite interpreter, and the same run gives the same bytes.
#include <ATen/ATen.h>
#include <torch/csrc/jit/mobile/import.h>
#include <torch/csrc/jit/mobile/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <catch2/catch.hpp>

#include "lib/converter/emit/emit_cpu.h"
#include "lib/converter/load/converted_file.h"
#include "tests/converter/fixtures.h"
#include "tests/temporary_folder.h"

namespace nnapi_convert {
namespace {

using namespace test;
using Catch::Contains;

constexpr double kTolerance = 1e-4;

at::Tensor picture() {
  return random_floats({1, 3, 16, 16}, 1);
}

at::Tensor expected_of(const std::string& fixture) {
  return run(load_fixture(fixture).module, {picture()}).toTensor();
}

at::Tensor run_mobile(torch::jit::mobile::Module module, const at::Tensor& input) {
  c10::InferenceMode guard;
  return module.forward({input}).toTensor();
}

Tensors bundled(torch::jit::Module module) {
  Tensors tensors;
  const c10::IValue samples = module.get_method("get_all_bundled_inputs")({});
  for (const c10::IValue& sample : samples.toListRef()) {
    tensors.push_back(sample.toTupleRef().elements()[0].toTensor());
  }
  return tensors;
}

}  // namespace

TEST_CASE("a saved file loads and runs") {
  TemporaryFolder folder;
  const Conversion conversion = convert_fixture("residual.pt", options_for({"1,3,16,16"}));
  write_conversion(conversion, folder.file("out.pt"));
  const torch::jit::Module loaded = torch::jit::load(folder.file("out.pt"));
  CHECK(relative_error(expected_of("residual.pt"), run(loaded, {picture()}).toTensor()) < kTolerance);
}

TEST_CASE("a saved file with flexible sizes loads afresh for each size") {
  TemporaryFolder folder;
  write_conversion(convert_fixture("residual.pt", options_for({"?,3,?,?"})), folder.file("out.pt"));
  for (const int64_t size : {10, 16}) {
    const at::Tensor input = random_floats({2, 3, size, size}, 3);
    const at::Tensor expected = run(load_fixture("residual.pt").module, {input}).toTensor();
    const torch::jit::Module loaded = torch::jit::load(folder.file("out.pt"));
    CHECK(relative_error(expected, run(loaded, {input}).toTensor()) < kTolerance);
  }
}

TEST_CASE("a .ptl runs in the lite interpreter") {
  TemporaryFolder folder;
  for (const char* input : {"1,3,16,16", "1,3,?,?"}) {
    write_conversion(convert_fixture("residual.pt", options_for({input})), folder.file("out.ptl"));
    const auto module = torch::jit::_load_for_mobile(folder.file("out.ptl"));
    CHECK(relative_error(expected_of("residual.pt"), run_mobile(module, picture())) < kTolerance);
  }
}

TEST_CASE("messages come through the lite interpreter") {
  TemporaryFolder folder;
  write_conversion(convert_fixture("residual.pt", options_for({"1,3,16,16"})), folder.file("out.ptl"));
  const auto module = torch::jit::_load_for_mobile(folder.file("out.ptl"));
  std::string message;
  try {
    run_mobile(module, random_floats({1, 3, 8, 8}, 1));
  } catch (const std::exception& error) {
    message = error.what();
  }
  CHECK_THAT(message, Contains("input picture: shape [1, 3, 8, 8] found, [1, 3, 16, 16] needed"));
}

TEST_CASE("quantised modes run from saved files in both interpreters") {
  TemporaryFolder folder;
  const at::Tensor expected = run(load_fixture("quant.pt").module, {picture()}).toTensor();
  for (const QuantMode mode : {QuantMode::kCore, QuantMode::kNnapi}) {
    ConvertOptions options = options_for({});
    options.quant = mode;
    const Conversion conversion = convert_fixture("quant.pt", options);
    write_conversion(conversion, folder.file("out.pt"));
    write_conversion(conversion, folder.file("out.ptl"));
    const at::Tensor full = run(torch::jit::load(folder.file("out.pt")), {picture()}).toTensor();
    CHECK(relative_error(expected, full) < 0.05);
    CHECK(run_mobile(torch::jit::_load_for_mobile(folder.file("out.ptl")), picture()).equal(full));
  }
}

TEST_CASE("the same run gives the same bytes") {
  for (const char* name : {"out.pt", "out.ptl"}) {
    TemporaryFolder one, other;
    for (const TemporaryFolder* folder : {&one, &other}) {
      ConvertOptions options = options_for({"1,3,16,16"});
      options.bundle_inputs = true;
      write_conversion(convert_fixture("residual.pt", options), folder->file(name));
    }
    const std::string bytes = read_bytes(one.file(name));
    CHECK(bytes.size() > 1000);
    CHECK(bytes == read_bytes(other.file(name)));
  }
}

TEST_CASE("the metadata and the buffer are read back") {
  TemporaryFolder folder;
  const Conversion conversion = convert_fixture("quant.pt", options_for({}));
  write_conversion(conversion, folder.file("out.pt"));
  const ConvertedFile file = read_converted_file(folder.file("out.pt"));
  CHECK(file.metadata.quant == "core");
  CHECK(file.metadata.inputs[0].name == "picture");
  CHECK(file.buffers.at(0).operations.size() == conversion.segments.at(0).model.operations.size());
}

TEST_CASE("another TorchScript file is no converted file") {
  const std::string message = error_of(ExitCode::kBadFile, [] { read_converted_file(fixture_path("residual.pt")); });
  CHECK_THAT(message, Contains("residual.pt"));
}

TEST_CASE("bundled inputs can be had and run") {
  TemporaryFolder folder;
  ConvertOptions options = options_for({"1,3,16,16"});
  options.bundle_inputs = true;
  write_conversion(convert_fixture("residual.pt", options), folder.file("out.ptl"));
  auto mobile = torch::jit::_load_for_mobile(folder.file("out.ptl"));
  const auto samples = mobile.get_method("get_all_bundled_inputs")({}).toList();
  REQUIRE(samples.size() == 1);
  CHECK(mobile.get_method("get_num_bundled_inputs")({}).toInt() == 1);
  const c10::IValue sample = samples.get(0);
  const at::Tensor input = sample.toTupleRef().elements()[0].toTensor();
  const at::Tensor expected = run(load_fixture("residual.pt").module, {input}).toTensor();
  CHECK(relative_error(expected, run_mobile(mobile, input)) < kTolerance);
}

TEST_CASE("bundled inputs of the original are kept, without being asked for") {
  const Conversion conversion = convert_fixture("bundled.pt", options_for({}));
  const Tensors kept = bundled(conversion.runnable_module());
  const Tensors original = bundled(load_fixture("bundled.pt").module);
  REQUIRE(kept.size() == original.size());
  CHECK(kept[0].equal(original[0]));
  CHECK_FALSE(convert_fixture("residual.pt", options_for({"1,3,16,16"}))
                  .runnable_module()
                  .find_method("get_all_bundled_inputs"));
}

TEST_CASE("the CPU counterpart has the same interface and agrees") {
  TemporaryFolder folder;
  ConvertOptions options = options_for({"1,3,16,16"});
  options.bundle_inputs = true;
  for (const char* fixture : {"residual.pt", "conv_bn_relu6.pt"}) {
    const Conversion conversion = convert_fixture(fixture, options);
    emit_cpu(load_fixture(fixture), conversion, folder.file("cpu.ptl"));
    auto cpu = torch::jit::_load_for_mobile(folder.file("cpu.ptl"));
    CHECK(relative_error(run_mobile(cpu, picture()), run(conversion.runnable_module(), {picture()}).toTensor()) <
          kTolerance);
    CHECK(cpu.get_method("get_num_bundled_inputs")({}).toInt() == 1);
  }
}

TEST_CASE("the CPU counterpart of a quantised model takes what the converted model takes") {
  TemporaryFolder folder;
  for (const QuantMode mode : {QuantMode::kCore, QuantMode::kFull, QuantMode::kNnapi}) {
    ConvertOptions options = options_for({});
    options.quant = mode;
    const Conversion conversion = convert_fixture("quant.pt", options);
    emit_cpu(load_fixture("quant.pt"), conversion, folder.file("cpu.pt"));
    const torch::jit::Module cpu = torch::jit::load(folder.file("cpu.pt"));
    const Tensors inputs = bundled(cpu);
    REQUIRE(inputs.size() == 1);
    const at::Tensor expected = run(cpu, {inputs[0]}).toTensor();
    const at::Tensor found = run(conversion.runnable_module(), {inputs[0]}).toTensor();
    CHECK(inputs[0].is_quantized() == (mode == QuantMode::kFull));
    CHECK(expected.scalar_type() == found.scalar_type());
    CHECK(relative_error(expected, found) < 0.05);
  }
}

}  // namespace nnapi_convert
