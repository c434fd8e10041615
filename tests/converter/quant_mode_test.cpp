// SPDX-License-Identifier: BSD-3-Clause
// --quant: each mode for a model with a float interface and for one with a quantised interface, and each refusal.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/converter/fixtures.h"

namespace nnapi_convert {
namespace {

using namespace test;
using Catch::Contains;

constexpr const char* kFloatTraced = "quant_unbundled.pt";
constexpr const char* kQuantTraced = "quant_quint8.pt";
constexpr double kScale = 0.031503722071647644;
constexpr int64_t kZeroPoint = 131;

struct Run {
  Conversion conversion;
  at::Tensor expected, found;  // for the same picture
};

std::string input_for(const std::string& model) {
  const std::string sizes = "1,3,16,16";
  return model == kQuantTraced ? fmt::format("{}:quint8:{}:{}", sizes, kScale, kZeroPoint) : sizes;
}

Run convert_and_run(const std::string& model, QuantMode mode) {
  ConvertOptions options = options_for({input_for(model)});
  options.quant = mode;
  Run result{convert_fixture(model, options), {}, {}};
  const at::Tensor picture = random_floats({1, 3, 16, 16}, 7);
  const at::Tensor quantised_picture = quantised(picture, kScale, kZeroPoint);
  const bool original_is_quantised = model == kQuantTraced;
  const bool result_is_quantised = result.conversion.interface.inputs[0].type.is_quantized();
  const torch::jit::Module original = load_fixture(model).module;
  result.expected = run(original, {original_is_quantised ? quantised_picture : picture}).toTensor();
  result.found =
      run(result.conversion.runnable_module(), {result_is_quantised ? quantised_picture : picture}).toTensor();
  return result;
}

std::string refusal(const LoadedModel& loaded, const std::string& input, QuantMode mode) {
  return error_of(ExitCode::kNotConvertible, [&] {
    ConvertOptions options = options_for({input});
    options.quant = mode;
    Diagnostics ignored;
    convert(loaded, options, ignored);
  });
}

bool has_operation(const Conversion& conversion, OperationCode code) {
  for (const auto& operation : conversion.segments.at(0).model.operations) {
    if (operation.code == code) return true;
  }
  return false;
}

// Deep nets may differ by some quanta from step to step: see the operation cases for single operations.
constexpr double kNetTolerance = 0.05;

}  // namespace

TEST_CASE("auto keeps a float interface and quantises on the CPU") {
  const Run result = convert_and_run(kFloatTraced, QuantMode::kAuto);
  CHECK(result.conversion.quant == QuantMode::kCore);
  CHECK(result.conversion.interface.inputs[0].quantize.has_value());
  CHECK(result.found.scalar_type() == at::kFloat);
  CHECK_FALSE(has_operation(result.conversion, OperationCode::QUANTIZE));
  CHECK(relative_error(result.expected, result.found) < kNetTolerance);
}

TEST_CASE("auto keeps a quantised interface") {
  const Run result = convert_and_run(kQuantTraced, QuantMode::kAuto);
  CHECK(result.conversion.quant == QuantMode::kFull);
  CHECK_FALSE(result.conversion.interface.inputs[0].quantize.has_value());
  CHECK(result.found.scalar_type() == at::kQUInt8);
  CHECK(relative_error(result.expected, result.found) < kNetTolerance);
}

TEST_CASE("core has a float interface around a quantised model, whatever it was traced with") {
  for (const char* model : {kFloatTraced, kQuantTraced}) {
    INFO(model);
    const Run result = convert_and_run(model, QuantMode::kCore);
    CHECK(result.conversion.quant == QuantMode::kCore);
    REQUIRE(result.conversion.interface.inputs[0].quantize.has_value());
    CHECK(result.conversion.interface.inputs[0].quantize->scale == Approx(kScale));
    CHECK(result.conversion.interface.inputs[0].quantize->zero_point == kZeroPoint);
    CHECK(result.conversion.interface.outputs[0].dequantize);
    CHECK(result.found.scalar_type() == at::kFloat);
    CHECK_FALSE(has_operation(result.conversion, OperationCode::DEQUANTIZE));
    CHECK(relative_error(result.expected, result.found) < kNetTolerance);
  }
}

TEST_CASE("full has a quint8 interface, whatever the model was traced with") {
  for (const char* model : {kFloatTraced, kQuantTraced}) {
    INFO(model);
    const Run result = convert_and_run(model, QuantMode::kFull);
    CHECK(result.conversion.quant == QuantMode::kFull);
    CHECK(result.conversion.interface.inputs[0].type.dtype == at::kQUInt8);
    CHECK(result.conversion.interface.inputs[0].type.quantization.scale == Approx(kScale));
    CHECK_FALSE(result.conversion.interface.outputs[0].dequantize);
    CHECK(result.found.scalar_type() == at::kQUInt8);
    CHECK(result.found.q_zero_point() == 108);
    CHECK(relative_error(result.expected, result.found) < kNetTolerance);
  }
}

TEST_CASE("nnapi has a float interface, and NNAPI quantises") {
  for (const char* model : {kFloatTraced, kQuantTraced}) {
    INFO(model);
    const Run result = convert_and_run(model, QuantMode::kNnapi);
    CHECK(result.conversion.quant == QuantMode::kNnapi);
    CHECK_FALSE(result.conversion.interface.inputs[0].quantize.has_value());
    CHECK(result.conversion.segments.at(0).model.operations.front().code == OperationCode::QUANTIZE);
    CHECK(result.conversion.segments.at(0).model.operations.back().code == OperationCode::DEQUANTIZE);
    CHECK(result.found.scalar_type() == at::kFloat);
    CHECK(relative_error(result.expected, result.found) < kNetTolerance);
  }
}

TEST_CASE("modes give the same numbers") {
  const at::Tensor core = convert_and_run(kFloatTraced, QuantMode::kCore).found;
  const at::Tensor full = convert_and_run(kFloatTraced, QuantMode::kFull).found;
  const at::Tensor nnapi = convert_and_run(kFloatTraced, QuantMode::kNnapi).found;
  CHECK(full.dequantize().equal(core));
  CHECK(relative_error(core, nnapi) < 1e-6);
}

TEST_CASE("none takes float models only") {
  CHECK(convert_fixture("mlp.pt", options_for({"1,12"})).quant == QuantMode::kNone);
  for (const char* model : {kFloatTraced, kQuantTraced}) {
    CHECK_THAT(refusal(load_fixture(model), input_for(model), QuantMode::kNone),
               Contains("--quant none: the model is quantised") && Contains("use core, full or nnapi"));
  }
}

TEST_CASE("a float model has to be calibrated first") {
  for (const QuantMode mode : {QuantMode::kCore, QuantMode::kFull, QuantMode::kNnapi}) {
    CHECK_THAT(refusal(load_fixture("mlp.pt"), "1,12", mode),
               Contains(fmt::format("--quant {}: the model is a float model", name_of(mode))) &&
                   Contains("calibrate it first"));
  }
}

TEST_CASE("a quantised interface without a known scale asks for it") {
  for (const QuantMode mode : {QuantMode::kAuto, QuantMode::kCore, QuantMode::kFull, QuantMode::kNnapi}) {
    CHECK_THAT(refusal(load_fixture(kQuantTraced), "1,3,16,16", mode),
               Contains("input picture") && Contains("--input DIMS:quint8:SCALE:ZERO_POINT"));
  }
}

TEST_CASE("full refuses an input that float operations read") {
  const LoadedModel loaded = from_source(
      "def forward(self, x: Tensor) -> Tensor:\n"
      "  return torch.quantize_per_tensor(torch.relu(x), 0.1, 10, 13)\n");
  CHECK_THAT(
      refusal(loaded, "2,3", QuantMode::kFull),
      Contains("--quant full: input x is not quantised to quint8 by its first operation") && Contains("QuantStub"));
}

TEST_CASE("full refuses a float output") {
  const LoadedModel loaded = from_source(
      "def forward(self, x: Tensor) -> Tensor:\n"
      "  y = torch.relu(torch.quantize_per_tensor(x, 0.1, 10, 13))\n"
      "  return torch.tanh(torch.dequantize(y))\n");
  CHECK_THAT(refusal(loaded, "2,3", QuantMode::kFull),
             Contains("--quant full: output 0 is float32, made by aten::tanh") && Contains("DeQuantStub"));
}

TEST_CASE("full says which dtype an output has that isn't quantised") {
  const LoadedModel loaded = from_source(
      "def forward(self, x: Tensor) -> Tensor:\n"
      "  y = torch.relu(torch.quantize_per_tensor(x, 0.1, 10, 13))\n"
      "  return torch.argmax(torch.dequantize(y), 1, False)\n");
  CHECK_THAT(refusal(loaded, "2,3", QuantMode::kFull),
             Contains("--quant full: output 0 is int64, made by aten::argmax") && Contains("core or nnapi"));
}

TEST_CASE("two readers with unequal parameters are both kept") {
  const LoadedModel loaded = from_source(
      "def forward(self, x: Tensor) -> Tensor:\n"
      "  a = torch.dequantize(torch.quantize_per_tensor(x, 0.1, 10, 13))\n"
      "  b = torch.dequantize(torch.quantize_per_tensor(x, 0.2, 20, 13))\n"
      "  return a + b\n");
  CHECK_THAT(refusal(loaded, "2,3", QuantMode::kFull), Contains("input x is not quantised to quint8"));
  ConvertOptions options = options_for({"2,3"});
  Diagnostics ignored;
  const Conversion conversion = convert(loaded, options, ignored);
  CHECK_FALSE(conversion.interface.inputs[0].quantize.has_value());
  const at::Tensor x = random_floats({2, 3}, 3);
  CHECK(relative_error(run(loaded.module, {x}).toTensor(), run(conversion.runnable_module(), {x}).toTensor()) < 1e-6);
}

TEST_CASE("a quantised output beside a float one keeps each dtype in auto") {
  const LoadedModel loaded = from_source(
      "def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:\n"
      "  y = torch.relu(torch.quantize_per_tensor(x, 0.1, 10, 13))\n"
      "  return y, torch.dequantize(y)\n");
  Diagnostics ignored;
  const Conversion conversion = convert(loaded, options_for({"2,3"}), ignored);
  const at::Tensor x = random_floats({2, 3}, 3);
  const auto expected = run(loaded.module, {x}).toTupleRef().elements().vec();
  const auto found = run(conversion.runnable_module(), {x}).toTupleRef().elements().vec();
  CHECK(found[0].toTensor().scalar_type() == at::kQUInt8);
  CHECK(found[1].toTensor().scalar_type() == at::kFloat);
  CHECK(found[0].toTensor().int_repr().equal(expected[0].toTensor().int_repr()));
  CHECK(relative_error(expected[1].toTensor(), found[1].toTensor()) < 1e-6);
}

namespace {

// Converts, and runs original and result on the same values, each in the dtype that it takes.
Run convert_and_run_source(const std::string& source, const std::string& input, QuantMode mode) {
  const LoadedModel loaded = from_source(source);
  ConvertOptions options = options_for({input});
  options.quant = mode;
  Diagnostics ignored;
  Run result{convert(loaded, options, ignored), {}, {}};
  const at::Tensor x = random_floats({2, 3}, 3);
  const at::Tensor codes = quantised(x, 0.5, 10);
  const auto argument = [&](const TensorType& type) { return type.is_quantized() ? codes : x; };
  const InterfaceInput& interface = result.conversion.interface.inputs[0];
  result.expected = run(loaded.module, {argument(interface.original)}).toTupleRef().elements()[0].toTensor();
  result.found =
      run(result.conversion.runnable_module(), {argument(interface.type)}).toTupleRef().elements()[0].toTensor();
  return result;
}

}  // namespace

TEST_CASE("an output that is the quantised input is what it was, in each mode's dtype") {
  const std::string quantises =
      "def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:\n"
      "  y = torch.quantize_per_tensor(x, 0.5, 10, 13)\n"
      "  return y, torch.relu(y)\n";
  const std::string dequantises =
      "def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:\n"
      "  return torch.dequantize(x), torch.relu(x)\n";
  const std::string returns_codes =
      "def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:\n"
      "  return x, torch.relu(x)\n";
  for (const QuantMode mode : {QuantMode::kAuto, QuantMode::kCore, QuantMode::kFull, QuantMode::kNnapi}) {
    for (const std::string& source : {quantises, dequantises, returns_codes}) {
      INFO(name_of(mode) << "\n" << source);
      const std::string input = source == quantises ? "2,3" : "2,3:quint8:0.5:10";
      const Run result = convert_and_run_source(source, input, mode);
      const bool is_quantised = mode == QuantMode::kFull || (mode == QuantMode::kAuto && source != dequantises);
      CHECK(result.found.scalar_type() == (is_quantised ? at::kQUInt8 : at::kFloat));
      CHECK(relative_error(result.expected, result.found) < 1e-6);
    }
  }
}

TEST_CASE("auto leaves quantisation to NNAPI where there is nothing else") {
  const LoadedModel loaded = from_source(
      "def forward(self, x: Tensor) -> Tensor:\n"
      "  return torch.quantize_per_tensor(x, 0.1, 10, 13)\n");
  Diagnostics ignored;
  const Conversion conversion = convert(loaded, options_for({"2,3"}), ignored);
  CHECK(conversion.quant == QuantMode::kNnapi);
  CHECK(has_operation(conversion, OperationCode::QUANTIZE));
  const at::Tensor x = random_floats({2, 3}, 3);
  const at::Tensor found = run(conversion.runnable_module(), {x}).toTensor();
  CHECK(found.int_repr().equal(run(loaded.module, {x}).toTensor().int_repr()));
  CHECK_THAT(refusal(loaded, "2,3", QuantMode::kCore), Contains("nothing is left") && Contains("use --quant nnapi"));
}

TEST_CASE("full quantises float bundled inputs with the cut node's parameters") {
  ConvertOptions options = options_for({});
  options.quant = QuantMode::kFull;
  const Conversion conversion = convert_fixture("quant.pt", options);
  REQUIRE(conversion.bundled_inputs.size() == 1);
  const at::Tensor sample = conversion.bundled_inputs[0][0].toTensor();
  CHECK(sample.scalar_type() == at::kQUInt8);
  CHECK(sample.q_scale() == Approx(kScale));
  const at::Tensor original = load_fixture("quant.pt").bundled_inputs[0][0].toTensor();
  CHECK(sample.int_repr().equal(quantised(original, sample.q_scale(), sample.q_zero_point()).int_repr()));
}

TEST_CASE("per-channel weights cost a warning with the error") {
  Diagnostics diagnostics;
  convert_fixture("quant_per_channel.pt", options_for({}), diagnostics);
  REQUIRE_FALSE(diagnostics.warnings.empty());
  CHECK_THAT(diagnostics.warnings[0].message(),
             Contains("per-channel weights requantised") && Contains("% of the largest weight"));
}

}  // namespace nnapi_convert
