// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/value_path.h"

#include <catch2/catch.hpp>

#include "lib/base/script_literal.h"

namespace nnapi_convert {
namespace {

std::string read_and_written(const std::string& text) {
  const auto path = parse_path(text);
  return path ? to_text(*path) : "none";
}

}  // namespace

TEST_CASE("steps of a path") {
  const auto path = parse_path("state.layers[0][a.b=c]");
  REQUIRE(path.has_value());
  CHECK(path->argument == "state");
  REQUIRE(path->steps.size() == 3);
  CHECK(path->steps[0] == ValuePath::Step{"layers", true});
  CHECK(path->steps[1] == ValuePath::Step{"0"});
  CHECK(path->steps[2] == ValuePath::Step{"a.b=c"});
}

TEST_CASE("one text for each path") {
  CHECK(read_and_written("x") == "x");
  CHECK(read_and_written("f[\"low\"]") == "f[low]");
  CHECK(read_and_written("f[größe][a b]") == "f[größe][a b]");
  CHECK(read_and_written("f[a=b]") == "f[\"a=b\"]");
  CHECK(read_and_written(R"(f["a]\"\\"])") == R"(f["a]\"\\"])");
  CHECK(to_text({"f", {{"{}"}, {""}, {"a\nb"}}}) == "f[\"{}\"][\"\"][\"a\nb\"]");
  CHECK(parse_path("f[\"a\nb\"]")->steps.at(0).name == "a\nb");
}

TEST_CASE("no paths") {
  for (const char* text : {"", "[0]", "f[0", "f[0]x", "f[\"a]", "f.", "f..a", "f[\"a\"b]"}) {
    CHECK(read_and_written(text) == "none");
  }
}

TEST_CASE("the end of a path before its value") {
  CHECK(end_of_path("x=1,3") == 1);
  CHECK(end_of_path("f[a=b]=1") == 6);
  CHECK(end_of_path("f[\"]=\"]=[1,2]") == 7);
  CHECK(end_of_path("mode=\"a=b\"") == 4);
  CHECK(end_of_path("n=[9,4]") == 1);
  CHECK(end_of_path("1,3,224,224") == std::string::npos);
  CHECK(end_of_path("f[a=1") == 3);
}

TEST_CASE("literals of TorchScript hold all bytes") {
  CHECK(string_literal("a'b\"\\") == R"("a'b\"\\")");
  CHECK(string_literal("ö\n") == R"("\303\266\012")");
}

}  // namespace nnapi_convert
