// SPDX-License-Identifier: BSD-3-Clause
// --input SPEC: what is read from a good one. Bad ones are text cases in testdata/cli/usage_input.case.
#include "tools/nnapi-convert/input_spec.h"

#include <catch2/catch.hpp>

#include "lib/base/error.h"

namespace nnapi_convert {
namespace {

using Sizes = std::vector<std::optional<int64_t>>;

TEST_CASE("sizes alone") {
  const InputSpec spec = parse_input_spec("1,3,224,200");
  CHECK(spec.name.empty());
  CHECK((spec.sizes == Sizes{1, 3, 224, 200}));
  CHECK_FALSE(spec.dtype.has_value());
  CHECK_FALSE(spec.quantization.has_value());
}

TEST_CASE("flexible sizes and a name") {
  const InputSpec spec = parse_input_spec("x.1=?,3,?,20");
  CHECK(spec.name == "x.1");
  CHECK((spec.sizes == Sizes{std::nullopt, 3, std::nullopt, 20}));
}

TEST_CASE("one size, the largest") {
  CHECK((parse_input_spec("2147483647").sizes == Sizes{2147483647}));
}

TEST_CASE("rank 0, with a name and a dtype") {
  CHECK(parse_input_spec("scalar").sizes.empty());
  const InputSpec spec = parse_input_spec("x=scalar:int64");
  CHECK(spec.name == "x");
  CHECK(spec.sizes.empty());
  CHECK(spec.dtype == at::kLong);
}

TEST_CASE("dtypes") {
  CHECK(parse_input_spec("1:float32").dtype == at::kFloat);
  CHECK(parse_input_spec("1:int32").dtype == at::kInt);
  CHECK(parse_input_spec("1:bool").dtype == at::kBool);
  CHECK_FALSE(parse_input_spec("1:int32").quantization.has_value());
}

TEST_CASE("quantised") {
  const InputSpec spec = parse_input_spec("picture=1,3,4,4:quint8:0.0187:114");
  CHECK(spec.name == "picture");
  CHECK(spec.dtype == at::kQUInt8);
  REQUIRE(spec.quantization.has_value());
  CHECK(spec.quantization->scale == 0.0187);  // exactly the number written
  CHECK(spec.quantization->zero_point == 114);
}

TEST_CASE("scales in other notations, and the ends of zero points") {
  CHECK(parse_input_spec("1:quint8:1.5e-3:0").quantization->scale == 0.0015);
  CHECK(parse_input_spec("1:quint8:2:255").quantization->zero_point == 255);
}

TEST_CASE("bad specifications stop with the code of a wrong command line") {
  for (const char* text : {"",
                           ",",
                           "1,",
                           "-1",
                           "+1",
                           " 1",
                           "1 ",
                           "1.5",
                           "0x10",
                           "??",
                           "1:",
                           "1:float",
                           "1:quint8:1e999:0",
                           "1:quint8:-1:0",
                           "1:quint8:1:-1",
                           "1:quint8::",
                           "1:int32:",
                           "2147483648",
                           "scalar,1",
                           "1,scalar",
                           "Scalar"}) {
    CAPTURE(text);
    try {
      parse_input_spec(text);
      FAIL_CHECK("accepted");
    } catch (const ConvertError& error) {
      CHECK(error.exit_code() == ExitCode::kUsage);
      CHECK(std::string(error.what()).find(std::string("--input ") + text) == 0);
    }
  }
}

}  // namespace
}  // namespace nnapi_convert
