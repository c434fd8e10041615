// SPDX-License-Identifier: BSD-3-Clause
// The types of forward's inputs: from --input, from bundled inputs, from the weights; and each refusal.
#include "lib/converter/frontend/input_types.h"

#include <catch2/catch.hpp>

#include "lib/converter/frontend/normalise.h"
#include "tests/converter/fixtures.h"

namespace nnapi_convert {
namespace {

using namespace test;
using Catch::Contains;

InputTypes inputs_of(const std::string& fixture, const std::vector<std::string>& specs) {
  const LoadedModel loaded = load_fixture(fixture);
  Diagnostics ignored;
  ExampleTensors example;
  if (loaded.example() != nullptr) example.tensors = *loaded.example();
  return input_types(normalise(loaded, {}, ignored), example, options_for(specs).inputs, {}, {}, ignored);
}

std::vector<TensorType> types_of(const std::string& fixture, const std::vector<std::string>& specs) {
  return inputs_of(fixture, specs).types;
}

std::string sources_of(const std::string& fixture, const std::vector<std::string>& specs) {
  std::string result;
  for (const TypeSource source : inputs_of(fixture, specs).sources) {
    result += std::string(result.empty() ? "" : ", ") + name_of(source);
  }
  return result;
}

std::string text(const std::vector<TensorType>& types) {
  std::string result;
  for (const TensorType& type : types) result += to_text(type) + "\n";
  return result;
}

std::string usage_error(const std::string& fixture, const std::vector<std::string>& specs) {
  return error_of(ExitCode::kUsage, [&] { types_of(fixture, specs); });
}

std::string refusal(const std::string& fixture, const std::vector<std::string>& specs) {
  return error_of(ExitCode::kNotConvertible, [&] { types_of(fixture, specs); });
}

}  // namespace

TEST_CASE("specs are taken by position") {
  CHECK(text(types_of("two_input.pt", {"1,3,16,16", "1,2,16,16"})) == "float32[1, 3, 16, 16]\nfloat32[1, 2, 16, 16]\n");
}

TEST_CASE("specs are taken by name, in any order") {
  CHECK(text(types_of("two_input.pt", {"depth=1,2,8,8", "colour=1,3,8,8"})) ==
        "float32[1, 3, 8, 8]\nfloat32[1, 2, 8, 8]\n");
}

TEST_CASE("a question mark is a flexible size") {
  CHECK(text(types_of("two_input.pt", {"1,3,?,16", "?,2,16,16"})) ==
        "float32[1, 3, x0.2, 16]\nfloat32[x1.0, 2, 16, 16]\n");
}

TEST_CASE("dtype and quantisation come with the spec") {
  CHECK(text(types_of("quant_quint8.pt", {"1,3,16,16:quint8:0.5:3"})) ==
        "quint8[1, 3, 16, 16] scale 0.5 zero_point 3\n");
}

TEST_CASE("specs that don't fit the signature are a usage error") {
  CHECK_THAT(usage_error("mlp.pt", {"1,12", "1,3"}), Contains("2 --input found, and forward takes 1 tensor: "));
  CHECK_THAT(usage_error("two_input.pt", {"pixels=1,3,16,16"}),
             Contains("--input pixels: forward has no such tensor; it takes 2 tensors: colour, depth"));
  CHECK_THAT(usage_error("two_input.pt", {"colour=1,3,8,8", "colour=1,3,9,9"}),
             Contains("two --input for input colour"));
}

TEST_CASE("bundled inputs give shape, dtype and quantisation") {
  CHECK(text(types_of("bundled.pt", {})) == "float32[1, 3, 16, 16]\n");
  const std::string quantised = text(types_of("quant_quint8_bundled.pt", {}));
  CHECK_THAT(quantised, Contains("quint8[1, 3, 16, 16] scale 0.0315") && Contains("zero_point 131"));
}

TEST_CASE("a spec without a dtype takes it from the bundled input") {
  const std::string found = text(types_of("quant_quint8_bundled.pt", {"1,3,?,?"}));
  CHECK_THAT(found, Contains("quint8[1, 3, x0.2, x0.3] scale 0.0315") && Contains("zero_point 131"));
}

TEST_CASE("weights give rank and channels, and a picture has the usual size where it changes no result's") {
  CHECK(text(types_of("quant_unbundled.pt", {})) == "float32[1, 3, 224, 224]\n");
  CHECK_THAT(refusal("conv_bn_relu6.pt", {}),
             Contains("the weights tell only 1,3,?,?; give them, for example --input") &&
                 Contains("or for any size --input '1,3,?,?'"));
  CHECK_THAT(refusal("two_input.pt", {}), Contains("for any size --input 'colour=1,3,?,?' --input 'depth=1,2,?,?'"));
}

TEST_CASE("what is known of one input doesn't hold for another") {
  CHECK_THAT(refusal("two_input.pt", {"depth=1,2,8,8"}), Contains("input colour: its sizes are not known"));
}

TEST_CASE("names of sizes are one size, and multiples") {
  CHECK(text(types_of("two_input.pt", {"1,3,n,16", "1,2,n,16"})) ==
        "float32[1, 3, x0.2, 16]\nfloat32[1, 2, x0.2, 16]\n");
  CHECK(text(types_of("conv_bn_relu6.pt", {"1,3,8*h,w"})) == "float32[1, 3, 8 * (x0.2 // 8), x0.3]\n");
  CHECK_THAT(usage_error("conv_bn_relu6.pt", {"1,3,0*h,w"}),
             Contains("size \"0*h\" is no number of 1 to 2^20 times a name"));
}

TEST_CASE("each type has its source") {
  CHECK(sources_of("two_input.pt", {"colour=1,3,?,8", "depth=1,2,8,8"}) == "option, option");
  CHECK(sources_of("quant_unbundled.pt", {}) == "weights");
  CHECK(sources_of("bundled.pt", {}) == "bundled inputs");
  CHECK(sources_of("quant_quint8_bundled.pt", {"1,3,?,?"}) == "option");
}

TEST_CASE("weights tell a width, and there may be any number of rows") {
  CHECK(text(types_of("mlp.pt", {})) == "float32[x0.0, 12]\n");
  CHECK(sources_of("mlp.pt", {}) == "weights");
}

TEST_CASE("a quantised input without a scale is refused") {
  for (const std::vector<std::string>& specs : {std::vector<std::string>{}, {"1,3,16,16"}}) {
    CHECK_THAT(refusal("quant_quint8.pt", specs),
               Contains("input picture") && Contains("--input DIMS:quint8:SCALE:ZERO_POINT"));
  }
}

TEST_CASE("Rank 0 to 8 can be brought to what NNAPI takes") {
  CHECK_THAT(refusal("mlp.pt", {"1,1,1,1,1,1,1,1,12"}), Contains("rank 9 found, 0 to 8 needed"));
}

}  // namespace nnapi_convert
