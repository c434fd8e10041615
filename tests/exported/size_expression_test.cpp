// SPDX-License-Identifier: BSD-3-Clause
// Sizes of exported programs: what follows from one for another.
#include "lib/converter/load/size_expression.h"

#include <catch2/catch.hpp>

using namespace nnapi_convert;

namespace {

std::string read(const std::string& text) {
  const auto size = read_size_expression(text);
  return size ? to_text(*size) : "";
}

}  // namespace

TEST_CASE("names, products and sums of one symbol are read") {
  CHECK(read("s77") == "s77");
  CHECK(read("Symbol('s77', positive=True, integer=True)") == "s77");
  CHECK(read("Mul(Integer(2), Symbol('s0', positive=True, integer=True))") == "2*s0");
  CHECK(read("Add(Symbol('s0', integer=True), Integer(-3))") == "s0 - 3");
  CHECK(read("Add(Mul(Integer(2), Symbol('b')), Integer(1))") == "2*b + 1");
  CHECK(read("Mul(Integer(2), Add(Symbol('b'), Integer(1)))") == "2*b + 2");
  CHECK(read("Add(Symbol('b'), Symbol('b'))") == "2*b");
}

TEST_CASE("sums and products are read in the form of PyTorch 2.1 to 2.5, too") {
  CHECK(read("2*s0") == "2*s0");
  CHECK(read("s0 + 1") == "s0 + 1");
  CHECK(read("2*s0 - 3") == "2*s0 - 3");
  CHECK(read("s0 + s0 + 4*5") == "2*s0 + 20");
}

TEST_CASE("other expressions of sizes are left out") {
  for (const char* text : {"",
                           "3",
                           "Integer(3)",
                           "Symbol('s0'",
                           "Symbol('')",
                           "Symbol('a b')",
                           "Mul(Symbol('a'), Symbol('b'))",
                           "Add(Symbol('a'), Symbol('b'))",
                           "Mul(Symbol('a'), Symbol('a'))",
                           "Mul(Integer(-1), Symbol('a'))",
                           "Mul(Integer(0), Symbol('a'))",
                           "FloorDiv(Symbol('a'), Integer(2))",
                           "Mul(Integer(2), Symbol('a')",
                           "Mul()",
                           "Mul(Integer(9223372036854775807), Integer(2), Symbol('a'))",
                           "Integer(9223372036854775808)",
                           "Symbol('a')x",
                           "s0*s1",
                           "s0**2",
                           "s0//2",
                           "-s0",
                           "s0 + ",
                           "s0 +1",
                           "2*",
                           "9223372036854775807*s0*2",
                           "s0 - s0",
                           "(s0)"}) {
    INFO(text);
    CHECK(read(text).empty());
  }
  std::string nested = "Symbol('a')";
  for (int i = 0; i < 1000; ++i) nested = "Add(" + nested + ", Integer(1))";
  CHECK(read(nested).empty());
}

TEST_CASE("a size gives its symbol, and the symbol the size") {
  const SizeExpression size{"b", 2, 1};
  CHECK(size_for(size, 3) == 7);
  CHECK(symbol_for(size, 7) == 3);
  CHECK(symbol_for(size, 8) == std::nullopt);
  CHECK(size_for(size, INT64_MAX) == std::nullopt);
  CHECK(symbol_for({"b", 1, 1}, INT64_MIN) == std::nullopt);
}
