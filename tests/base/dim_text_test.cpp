// SPDX-License-Identifier: BSD-3-Clause
// The text of size expressions, which the converted module runs as TorchScript: evaluated here by Python's rules.
#include <catch2/catch.hpp>
#include <cctype>
#include <string>

#include "lib/base/dim.h"
#include "lib/base/size_of_values.h"
#include "tests/base/random_dim.h"

using namespace nnapi_convert;

namespace {

// Evaluates +, -, *, // and parentheses as Python does; names are a letter for the input and a digit for the axis.
class PythonExpression {
 public:
  PythonExpression(const std::string& text, const testing::Sizes& sizes) : sizes_(sizes) {
    for (const char c : text) {
      if (c != ' ') text_ += c;
    }
  }

  int64_t evaluate() {
    const int64_t value = sum();
    REQUIRE(position_ == text_.size());
    return value;
  }

 private:
  bool take(const std::string& token) {
    if (text_.compare(position_, token.size(), token) != 0) return false;
    position_ += token.size();
    return true;
  }

  int64_t sum() {
    int64_t value = term();
    while (true) {
      if (take("+")) {
        value += term();
      } else if (take("-")) {
        value -= term();
      } else {
        return value;
      }
    }
  }

  int64_t term() {
    int64_t value = unary();
    while (true) {
      if (take("//")) {
        value = testing::floor_by_remainder(value, unary());
      } else if (take("*")) {
        value *= unary();
      } else {
        return value;
      }
    }
  }

  int64_t unary() {
    if (take("-")) return -unary();
    if (take("(")) {
      const int64_t value = sum();
      REQUIRE(take(")"));
      return value;
    }
    REQUIRE(position_ < text_.size());
    if (std::isalpha(static_cast<unsigned char>(text_[position_])) != 0) {
      const int input = text_[position_] - 'a';
      const int axis = text_[position_ + 1] - '0';
      position_ += 2;
      return sizes_(input, axis);
    }
    size_t length = 0;
    const int64_t number = std::stoll(text_.substr(position_), &length);
    position_ += length;
    return number;
  }

  std::string text_;
  size_t position_ = 0;
  const testing::Sizes& sizes_;
};

std::string symbol(int input, int axis) {
  return std::string(1, static_cast<char>('a' + input)) + std::to_string(axis);
}

}  // namespace

TEST_CASE("Dim: text") {
  const Dim h = Dim::of_input(0, 2);
  const Dim w = Dim::of_input(1, 3);
  CHECK(Dim(0).text() == "0");
  CHECK(Dim(-3).text() == "-3");
  CHECK(h.text() == "x0.2");
  CHECK((h * -1).text() == "-x0.2");
  CHECK((h + 1).floor_div(2).text() == "((x0.2 + 1) // 2)");
  CHECK(h.floor_div(2).text() == "(x0.2 // 2)");
  CHECK((h * w * 3 - h + 5).text() == "3 * x0.2 * x1.3 - x0.2 + 5");
  CHECK((5 - h).text() == "-x0.2 + 5");
  CHECK((h + 1).floor_div(2).text([](int, int) { return "H"; }) == "((H + 1) // 2)");
}

TEST_CASE("Dim: sizes that depend on values have no number of an input") {
  const Dim found = Dim::of_input(kFirstSizeOfValues + 2, 0), h = Dim::of_input(0, 2);
  CHECK(found.text() == "?2");
  CHECK((found * h + 1).text() == (h * found + 1).text());
  CHECK((found * 2 + h).text().find("1048") == std::string::npos);
}

TEST_CASE("Dim: random texts mean in Python what the expression is") {
  std::mt19937 random(3);
  for (int i = 0; i < 3000; ++i) {
    const auto expression = testing::random_dim(random, 1 + i % 4);
    const std::string text = expression.dim.text(symbol);
    const testing::Sizes sizes = testing::random_sizes(random);
    INFO(text);
    REQUIRE(PythonExpression(text, sizes).evaluate() == expression.direct(sizes));
  }
}
