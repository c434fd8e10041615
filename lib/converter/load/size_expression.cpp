// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/size_expression.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace nnapi_convert {
namespace {

constexpr int kDeepest = 8;  // levels of sums in products in sums

bool is_name(std::string_view text) {
  const bool begins = !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0;
  return begins && std::all_of(text.begin(), text.end(), [](char letter) {
           return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
         });
}

// A sum of a number and a factor times a symbol; a plain number has no symbol and the factor 0.
using Term = SizeExpression;

std::optional<Term> sum_of(const Term& a, const Term& b) {
  if (!a.symbol.empty() && !b.symbol.empty() && a.symbol != b.symbol) return std::nullopt;
  Term sum{a.symbol.empty() ? b.symbol : a.symbol};
  const bool overflows = __builtin_add_overflow(a.factor, b.factor, &sum.factor) ||
                         __builtin_add_overflow(a.offset, b.offset, &sum.offset);
  return overflows ? std::nullopt : std::optional(sum);
}

std::optional<Term> product_of(const Term& a, const Term& b) {
  if (!a.symbol.empty() && !b.symbol.empty()) return std::nullopt;
  const Term& term = a.symbol.empty() ? b : a;
  const int64_t number = a.symbol.empty() ? a.offset : b.offset;
  Term product{term.symbol};
  const bool overflows = __builtin_mul_overflow(term.factor, number, &product.factor) ||
                         __builtin_mul_overflow(term.offset, number, &product.offset);
  return overflows ? std::nullopt : std::optional(product);
}

std::optional<Term> number_of(std::string_view digits) {
  Term number{"", 0, 0};
  const char* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, number.offset);
  return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

// Reads sympy's srepr(), such as "Add(Mul(Integer(2), Symbol('s77', ...)), Integer(1))".
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  std::optional<Term> read_all() {
    const auto term = read_term(0);
    return rest_.empty() ? term : std::nullopt;
  }

 private:
  bool take(std::string_view text) {
    if (rest_.substr(0, text.size()) != text) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  // Returns the text up to the delimiter, and moves behind that.
  std::optional<std::string_view> take_until(char delimiter) {
    const size_t end = rest_.find(delimiter);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }

  std::optional<Term> read_term(int depth) {
    if (depth > kDeepest) return std::nullopt;
    if (take("Symbol('")) return read_symbol();
    if (take("Integer(")) return read_integer();
    if (take("Add(")) return read_operands(sum_of, depth);
    return take("Mul(") ? read_operands(product_of, depth) : std::nullopt;
  }

  // Reads the rest of a symbol, such as "s77', positive=True, integer=True)".
  std::optional<Term> read_symbol() {
    const auto name = take_until('\'');
    const auto assumptions = take_until(')');
    if (!name || !assumptions || !is_name(*name)) return std::nullopt;
    return Term{std::string(*name), 1, 0};
  }

  std::optional<Term> read_integer() {
    const auto digits = take_until(')');
    return digits ? number_of(*digits) : std::nullopt;
  }

  template <class Join>
  std::optional<Term> read_operands(Join join, int depth) {
    std::optional<Term> result = read_term(depth + 1);
    while (result && take(", ")) {
      const auto next = read_term(depth + 1);
      result = next ? join(*result, *next) : std::nullopt;
    }
    return take(")") ? result : std::nullopt;
  }

  std::string_view rest_;
};

// Reads an expression such as "2*s0 + 1", as programs of PyTorch 2.1 to 2.5 have it.
class InfixReader {
 public:
  explicit InfixReader(std::string_view text) : rest_(text) {}

  std::optional<Term> read_all() {
    std::optional<Term> sum = read_product();
    while (sum && !rest_.empty()) {
      const std::string_view sign = rest_.substr(0, 3);
      if (sign != " + " && sign != " - ") return std::nullopt;
      rest_.remove_prefix(3);
      auto next = read_product();
      if (next && sign == " - ") next = product_of(*next, Term{"", 0, -1});
      sum = next ? sum_of(*sum, *next) : std::nullopt;
    }
    return sum;
  }

 private:
  std::optional<Term> read_product() {
    std::optional<Term> product = read_factor();
    while (product && !rest_.empty() && rest_.front() == '*') {
      rest_.remove_prefix(1);
      const auto next = read_factor();
      product = next ? product_of(*product, *next) : std::nullopt;
    }
    return product;
  }

  // Reads a name or an integer.
  std::optional<Term> read_factor() {
    const std::string_view text = rest_.substr(0, rest_.find_first_of(" *"));
    rest_.remove_prefix(text.size());
    if (is_name(text)) return Term{std::string(text), 1, 0};
    return number_of(text);
  }

  std::string_view rest_;
};

}  // namespace

std::string to_text(const SizeExpression& size) {
  std::string text = size.factor == 1 ? size.symbol : std::to_string(size.factor) + "*" + size.symbol;
  if (size.offset > 0) text += " + " + std::to_string(size.offset);
  if (size.offset < 0) text += " - " + std::to_string(size.offset).substr(1);
  return text;
}

std::optional<int64_t> size_for(const SizeExpression& size, int64_t symbol) {
  int64_t number = 0;
  const bool overflows =
      __builtin_mul_overflow(size.factor, symbol, &number) || __builtin_add_overflow(number, size.offset, &number);
  return overflows ? std::nullopt : std::optional(number);
}

std::optional<int64_t> symbol_for(const SizeExpression& size, int64_t number) {
  int64_t multiple = 0;
  if (__builtin_sub_overflow(number, size.offset, &multiple) || multiple % size.factor != 0) return std::nullopt;
  return multiple / size.factor;
}

std::optional<SizeExpression> read_size_expression(std::string_view text) {
  if (is_name(text)) return SizeExpression{std::string(text)};
  auto term = Reader(text).read_all();
  if (!term) term = InfixReader(text).read_all();
  return term && !term->symbol.empty() && term->factor > 0 ? term : std::nullopt;
}

}  // namespace nnapi_convert
