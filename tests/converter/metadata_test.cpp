// SPDX-License-Identifier: BSD-3-Clause
// Tests the metadata of a converted file, and texts that are no metadata.
#include "lib/serialize/metadata.h"

#include <catch2/catch.hpp>

#include "tests/converter/fixtures.h"

namespace nnapi_convert {
namespace {

using namespace test;
using Catch::Contains;

Metadata example() {
  Metadata metadata;
  metadata.quant = "core";
  metadata.feature_level = 3;
  const TensorType image{at::kFloat, {Dim(1), Dim(3), Dim::of_input(0, 2), Dim::of_input(0, 3)}, {}};
  metadata.inputs.push_back({"picture", image, {at::kFloat, {}, {}}, true});
  const TensorType features{at::kQUInt8, to_dims({2, 5}), {0.0123456789, 77}};
  metadata.inputs.push_back({"features", features, {at::kQUInt8, {}, {0.0123456789, 77}}, false});
  metadata.outputs = {{0.25, 3}, {}};
  return metadata;
}

std::string changed(const std::string& from, const std::string& to) {
  std::string text = to_json(example());
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string error(const std::string& text) {
  return error_of(ExitCode::kBadFile, [&] { parse_metadata(text); });
}

}  // namespace

TEST_CASE("metadata survives JSON") {
  const Metadata found = parse_metadata(to_json(example()));
  CHECK(found.quant == "core");
  CHECK(found.feature_level == 3);
  REQUIRE(found.inputs.size() == 2);
  CHECK(found.inputs[0].name == "picture");
  CHECK(to_text(found.inputs[0].type) == "float32[1, 3, x0.2, x0.3]");
  CHECK(found.inputs[0].nhwc);
  CHECK(found.inputs[1].type.quantization == Quantization{0.0123456789, 77});
  CHECK(found.inputs[1].original.dtype == at::kQUInt8);
  CHECK(found.inputs[1].original.quantization == Quantization{0.0123456789, 77});
  CHECK_FALSE(found.inputs[1].nhwc);
  REQUIRE(found.outputs.size() == 2);
  CHECK(found.outputs[0] == Quantization{0.25, 3});
  CHECK(found.outputs[1] == Quantization{});
  CHECK(to_json(found) == to_json(example()));
}

TEST_CASE("sizes that follow from others survive JSON") {
  Metadata metadata = example();
  const Dim side = Dim(8) * Dim::of_input(0, 2).floor_div(8);
  metadata.inputs[0].type.dims = {Dim(1), Dim(3), side, side + Dim(1)};
  metadata.inputs[1].type.dims = {Dim(4'000'000), Dim(2) * Dim::of_input(0, 2)};
  const Metadata found = parse_metadata(to_json(metadata));
  CHECK(to_text(found.inputs[0].type.dims) == to_text(metadata.inputs[0].type.dims));
  CHECK(to_text(found.inputs[1].type.dims) == to_text(metadata.inputs[1].type.dims));
}

TEST_CASE("hostile sizes are malformed") {
  const std::string own = R"(["size",0,2])", sum = R"(["+",)" + own + R"(,["size",0,3]])";
  for (const std::string& size :
       {std::string(R"(["size",9,0])"), std::string(R"(["size",0,7])"), std::string(R"(["size",-1,0])"),
        R"(["*",)" + own + "," + own + "]", R"(["*",2,["*",3,)" + own + "]]", R"(["*",)" + sum + "," + sum + "]",
        R"(["*",1099511627776,)" + own + "]", R"(["//",)" + own + ",0]", R"(["//",)" + own + "," + own + "]",
        R"(["%",)" + own + ",2]", std::string("[]"), std::string("[[]]")}) {
    INFO(size);
    CHECK_THAT(error(changed("[1,3,null,null]", "[1,3," + size + ",null]")), Contains("malformed"));
  }
}

TEST_CASE("every dtype of an input survives JSON") {
  for (const at::ScalarType dtype : {at::kFloat, at::kQUInt8, at::kInt, at::kBool}) {
    Metadata metadata = example();
    metadata.inputs[0].type.dtype = dtype;
    CHECK(parse_metadata(to_json(metadata)).inputs[0].type.dtype == dtype);
  }
}

TEST_CASE("a conversion's metadata tells its interface") {
  const Conversion conversion = convert_fixture("two_input.pt", options_for({"1,3,16,16", "1,2,16,16"}));
  const Metadata metadata = make_metadata(conversion.segments.at(0).model, conversion.interface, "none");
  REQUIRE(metadata.inputs.size() == 2);
  CHECK(metadata.inputs[0].name == "colour");
  CHECK(metadata.inputs[1].name == "depth");
  CHECK(metadata.inputs[0].nhwc);
  CHECK(metadata.outputs.size() == 1);
}

TEST_CASE("another version is told by its number") {
  CHECK_THAT(error(changed("\"version\":1", "\"version\":2")),
             Contains("version 2 of nnapi_convert.json found, 1 needed"));
  CHECK_THAT(error(changed("\"version\":1", "\"version\":\"x\"")), Contains("version \"x\""));
}

TEST_CASE("malformed metadata is told as such") {
  CHECK_THAT(error(""), Contains("malformed nnapi_convert.json"));
  CHECK_THAT(error("[]"), Contains("malformed nnapi_convert.json"));
  CHECK_THAT(error("{}"), Contains("malformed nnapi_convert.json") && Contains("version"));
  CHECK_THAT(error(to_json(example()).substr(0, 40)), Contains("malformed nnapi_convert.json"));
  CHECK_THAT(error(changed("\"quant\":\"core\"", "\"quant\":3")), Contains("malformed nnapi_convert.json"));
  CHECK_THAT(error(changed("\"nhwc\":true", "\"nhwc\":\"yes\"")), Contains("malformed nnapi_convert.json"));
  CHECK_THAT(error(changed("\"name\"", "\"nam\"")), Contains("malformed nnapi_convert.json") && Contains("name"));
  CHECK_THAT(error(changed("[1,3,null,null]", "[1,\"3\",null,null]")), Contains("malformed nnapi_convert.json"));
  CHECK_THAT(error(changed("\"dtype\":\"float32\"", "\"dtype\":\"float8\"")), Contains("unknown dtype float8"));
}

}  // namespace nnapi_convert
