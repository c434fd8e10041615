// SPDX-License-Identifier: BSD-3-Clause
// The JSON of exported programs: what is read, and one sentence for what is not.
#include "lib/converter/load/export_json.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "lib/base/error.h"
#include "lib/format/json_nesting.h"

using namespace nnapi_convert;
using Catch::Contains;

namespace {

std::string refusal(const std::function<void()>& read) {
  try {
    read();
  } catch (const ConvertError& error) {
    CHECK(error.exit_code() == ExitCode::kBadFile);
    CHECK(std::string(error.what()).find('\n') == std::string::npos);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("numbers that JSON lacks are read in both forms") {
  for (const char* text : {R"([Infinity, -Infinity, NaN])", R"(["Infinity", "-Infinity", "NaN"])"}) {
    const nlohmann::json values = parse_export(text);
    CHECK(real_of(values[0]) == HUGE_VAL);
    CHECK(real_of(values[1]) == -HUGE_VAL);
    CHECK(std::isnan(real_of(values[2])));
  }
  CHECK(text_of(parse_export(R"(["a \" NaN, Infinity"])")[0]) == "a \" NaN, Infinity");
}

TEST_CASE("sizes that are no integers are refused") {
  for (const char* text : {"NaN", "Infinity", "1.5", "\"3\"", "9223372036854775808", "1e400", "null", "[]", "true"}) {
    INFO(text);
    CHECK_THAT(refusal([&] { integer_of(parse_export(std::string("[") + text + "]")[0]); }),
               Contains("an integer needed") || Contains("no JSON"));
  }
  CHECK(integer_of(parse_export("[-9223372036854775808]")[0]) == INT64_MIN);
}

TEST_CASE("deep nesting is refused before it is read") {
  const std::string brackets(kMostNestedJson + 1, '[');
  CHECK_THAT(refusal([&] { parse_export(brackets); }), Contains("levels"));
  const std::string fits = std::string(kMostNestedJson, '[') + std::string(kMostNestedJson, ']');
  CHECK(refusal([&] { parse_export(fits); }).empty());
  CHECK_THAT(refusal([] { parse_export(std::string(1 << 20, '{')); }), Contains("levels"));
}

TEST_CASE("text that is no JSON is refused") {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("{\"a\":}"), std::string("[1]x"), std::string("[\"\xff\xfe\"]"),
        std::string("[1,\0]", 5), std::string("-"), std::string("[\"\\u12\"]"), std::string("Infinit")}) {
    CHECK_THAT(refusal([&] { parse_export(text); }), Contains("no JSON"));
  }
}

TEST_CASE("members that are missing or of another kind are named") {
  const nlohmann::json object = parse_export(R"({"name": 3, "nothing": null, "list": {}})");
  CHECK_THAT(refusal([&] { member(object, "nodes"); }), Contains("\"nodes\" is missing"));
  CHECK_THAT(refusal([&] { member(object, "nothing"); }), Contains("\"nothing\" is missing"));
  CHECK_THAT(refusal([&] { text_member(object, "name"); }), Contains("3 found, a string needed"));
  CHECK_THAT(refusal([&] { list_of(member(object, "list")); }), Contains("a list needed"));
  CHECK_THAT(refusal([&] { member(object["name"], "x"); }), Contains("an object needed"));
  CHECK_THAT(refusal([&] { bool_of(object["name"]); }), Contains("true or false needed"));
  const nlohmann::json bytes = std::string("\xff\xfe");  // messages are text even so
  CHECK_THAT(refusal([&] { integer_of(bytes); }), Contains("an integer needed"));
}

TEST_CASE("a union has one kind") {
  CHECK(tagged(parse_export(R"({"as_int": 3, "as_none": null})")).kind == "as_int");
  CHECK_THAT(refusal([] { tagged(parse_export(R"({"as_int": 3, "as_bool": true})")); }), Contains("two kinds"));
  CHECK_THAT(refusal([] { tagged(parse_export("{}")); }), Contains("no kind"));
  CHECK_THAT(refusal([] { tagged(parse_export("[]")); }), Contains("an object needed"));
}
