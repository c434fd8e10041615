// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/dim.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/size_of_values.h"

namespace nnapi_convert {
namespace {

int64_t floor_divide(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

[[noreturn]] void overflow(const char* operation, int64_t a, int64_t b) {
  throw ConvertError(ExitCode::kNotConvertible,
                     fmt::format("a size of {} {} {}, which is more than 64 bits hold", a, operation, b));
}

int64_t checked_sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) overflow("+", a, b);
  return sum;
}

int64_t checked_product(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) overflow("*", a, b);
  return product;
}

// Returns the name of an input's size, by which atoms are sorted.
std::string dump_symbol(int input, int axis) {
  return fmt::format("x{}.{}", input, axis);
}

std::string shown_symbol(int input, int axis) {
  if (input >= kFirstSizeOfValues) return fmt::format("?{}", input - kFirstSizeOfValues);
  return dump_symbol(input, axis);
}

}  // namespace

bool Dim::MonomialLess::operator()(const Monomial& a, const Monomial& b) const {
  if (a.size() != b.size()) return a.size() > b.size();  // highest degree first, as texts have them
  return monomial_key(a) < monomial_key(b);
}

template <typename Visit>
void Dim::for_each_term(const Visit& visit) const {
  for (const auto& [monomial, coefficient] : terms_) visit(monomial, coefficient);
  if (number_ != 0) visit(Monomial(), number_);
}

Dim Dim::of_input(int input, int axis) {
  Dim dim;
  dim.add_term({Atom{input, axis, nullptr, 1}}, 1);
  return dim;
}

std::optional<std::pair<int, int>> Dim::input_size() const {
  if (number_ != 0 || terms_.size() != 1) return std::nullopt;
  const auto& [monomial, coefficient] = *terms_.begin();
  if (coefficient != 1 || monomial.size() != 1 || monomial[0].numerator) return std::nullopt;
  return std::pair(monomial[0].input, monomial[0].axis);
}

int64_t Dim::value() const {
  NNC_ASSERT(is_fixed(), text());
  return number_;
}

std::optional<int64_t> Dim::fixed_value() const {
  if (!is_fixed()) return std::nullopt;
  return number_;
}

bool Dim::falls_with_sizes() const {
  return !is_fixed() && std::all_of(terms_.begin(), terms_.end(), [](const auto& term) { return term.second < 0; });
}

// Sizes are 1 or more, and quotients of them 0 or more.
bool Dim::is_negative() const {
  int64_t greatest = number_;
  for (const auto& [monomial, coefficient] : terms_) {
    const bool has_quotient =
        std::any_of(monomial.begin(), monomial.end(), [](const Atom& atom) { return atom.numerator != nullptr; });
    if (!has_quotient) greatest = checked_sum(greatest, coefficient);
  }
  return falls_with_sizes() && greatest < 0;
}

void Dim::add_term(const Monomial& monomial, int64_t coefficient) {
  if (monomial.empty()) {
    number_ = checked_sum(number_, coefficient);
    return;
  }
  if (coefficient == 0) return;
  auto [term, is_new] = terms_.emplace(monomial, coefficient);
  if (is_new) return;
  term->second = checked_sum(term->second, coefficient);
  if (term->second == 0) terms_.erase(term);
}

bool operator==(const Dim& a, const Dim& b) {
  if (a.is_fixed() || b.is_fixed()) return a.is_fixed() && b.is_fixed() && a.number_ == b.number_;
  return a.number_ == b.number_ && a.text() == b.text();
}

Dim& Dim::operator+=(const Dim& other) {
  if (&other == this) return *this *= Dim(2);
  other.for_each_term([&](const Monomial& monomial, int64_t coefficient) { add_term(monomial, coefficient); });
  return *this;
}

Dim operator-(const Dim& a, const Dim& b) {
  return a + b * Dim(-1);
}

Dim& Dim::operator*=(const Dim& other) {
  Dim result;
  for_each_term([&](const Monomial& left, int64_t left_coefficient) {
    other.for_each_term([&](const Monomial& right, int64_t right_coefficient) {
      Monomial both = left;
      both.insert(both.end(), right.begin(), right.end());
      std::sort(both.begin(), both.end(),
                [](const Atom& a, const Atom& b) { return atom_text(a, dump_symbol) < atom_text(b, dump_symbol); });
      result.add_term(both, checked_product(left_coefficient, right_coefficient));
    });
  });
  return *this = std::move(result);
}

Dim Dim::floor_div(int64_t divisor) const {
  if (divisor < 1) {
    throw ConvertError(ExitCode::kNotConvertible,
                       fmt::format("a stride or step of {} found, 1 or more needed", divisor));
  }
  if (divisor == 1) return *this;
  // Terms that are multiples of the divisor leave the division; the number leaves it by its floor.
  Dim whole(floor_divide(number_, divisor));
  Dim rest(number_ - floor_divide(number_, divisor) * divisor);
  for (const auto& [monomial, coefficient] : terms_) {
    if (coefficient % divisor == 0) {
      whole.add_term(monomial, coefficient / divisor);
    } else {
      rest.add_term(monomial, coefficient);
    }
  }
  if (rest.is_fixed()) return whole;  // 0 <= rest < divisor
  // floor((floor(n/a) + k) / b) == floor((n + k*a) / (a*b)).
  const auto& [first_monomial, first_coefficient] = *rest.terms_.begin();
  const bool is_single = rest.terms_.size() == 1;
  if (is_single && first_coefficient == 1 && first_monomial.size() == 1 && first_monomial[0].numerator) {
    const Atom& inner = first_monomial[0];
    const Dim numerator = *inner.numerator + Dim(checked_product(rest.number_, inner.divisor));
    return whole + numerator.floor_div(checked_product(inner.divisor, divisor));
  }
  whole.add_term({Atom{0, 0, std::make_shared<const Dim>(rest), divisor}}, 1);
  return whole;
}

namespace {

// Returns dividend / divisor where that is one whole number for every size.
std::optional<int64_t> whole_quotient(const Dim& dividend, const Dim& divisor) {
  constexpr int64_t kAnySize = 1009;
  const auto any_size = [](int, int) { return kAnySize; };
  const int64_t of_divisor = divisor.evaluate(any_size);
  if (of_divisor == 0 || dividend.evaluate(any_size) % of_divisor != 0) return std::nullopt;
  const int64_t quotient = dividend.evaluate(any_size) / of_divisor;
  return dividend == divisor * Dim(quotient) ? std::optional(quotient) : std::nullopt;
}

}  // namespace

std::optional<Dim> Dim::exact_div(const Dim& divisor) const {
  if (*this == divisor) return Dim(1);
  if (const auto quotient = whole_quotient(*this, divisor)) return Dim(*quotient);
  if (divisor.terms_.size() + (divisor.number_ != 0 ? 1 : 0) != 1) return std::nullopt;
  const Monomial divisor_monomial = divisor.is_fixed() ? Monomial() : divisor.terms_.begin()->first;
  const int64_t divisor_coefficient = divisor.is_fixed() ? divisor.number_ : divisor.terms_.begin()->second;
  Dim result;
  bool is_exact = true;
  for_each_term([&](const Monomial& monomial, int64_t coefficient) {
    Monomial rest = monomial;
    is_exact = is_exact && coefficient % divisor_coefficient == 0;
    for (const Atom& atom : divisor_monomial) {
      const auto found = std::find_if(rest.begin(), rest.end(), [&](const Atom& other) {
        return atom_text(other, dump_symbol) == atom_text(atom, dump_symbol);
      });
      is_exact = is_exact && found != rest.end();
      if (!is_exact) return;
      rest.erase(found);
    }
    if (is_exact) result.add_term(rest, coefficient / divisor_coefficient);
  });
  return is_exact ? std::optional<Dim>(std::move(result)) : std::nullopt;
}

int64_t Dim::evaluate(const std::function<int64_t(int, int)>& size_of) const {
  int64_t sum = 0;
  for_each_term([&](const Monomial& monomial, int64_t coefficient) {
    int64_t term = coefficient;
    for (const Atom& atom : monomial) {
      term = checked_product(term, atom.numerator ? floor_divide(atom.numerator->evaluate(size_of), atom.divisor)
                                                  : size_of(atom.input, atom.axis));
    }
    sum = checked_sum(sum, term);
  });
  return sum;
}

size_t Dim::visit_atom(const Atom& atom, DimVisitor& visitor) {
  if (!atom.numerator) return visitor.size(atom.input, atom.axis);
  return visitor.floor_div(atom.numerator->visit(visitor), visitor.number(atom.divisor));
}

size_t Dim::visit_term(const Monomial& monomial, int64_t coefficient, DimVisitor& visitor) {
  if (monomial.empty()) return visitor.number(coefficient);
  size_t term = visit_atom(monomial[0], visitor);
  for (size_t i = 1; i < monomial.size(); ++i) term = visitor.product(term, visit_atom(monomial[i], visitor));
  return coefficient == 1 ? term : visitor.product(term, visitor.number(coefficient));
}

size_t Dim::visit(DimVisitor& visitor) const {
  std::optional<size_t> sum;
  for_each_term([&](const Monomial& monomial, int64_t coefficient) {
    const size_t term = visit_term(monomial, coefficient, visitor);
    sum = sum ? visitor.sum(*sum, term) : term;
  });
  return sum ? *sum : visitor.number(0);
}

std::string Dim::atom_text(const Atom& atom, const std::function<std::string(int, int)>& symbol) {
  if (!atom.numerator) return symbol(atom.input, atom.axis);
  const std::string numerator = atom.numerator->text(symbol);
  const bool is_name = numerator.find(' ') == std::string::npos;
  return is_name ? fmt::format("({} // {})", numerator, atom.divisor)
                 : fmt::format("(({}) // {})", numerator, atom.divisor);
}

std::string Dim::monomial_key(const Monomial& monomial) {
  std::string key;
  for (const Atom& atom : monomial) key += atom_text(atom, dump_symbol) + "*";
  return key;
}

std::string Dim::text(const std::function<std::string(int, int)>& symbol) const {
  if (is_fixed()) return std::to_string(number_);
  std::string text;
  for_each_term([&](const Monomial& monomial, int64_t coefficient) {
    const int64_t magnitude = coefficient < 0 ? -coefficient : coefficient;
    if (text.empty()) {
      text = coefficient < 0 ? "-" : "";
    } else {
      text += coefficient < 0 ? " - " : " + ";
    }
    std::string factors;
    for (const Atom& atom : monomial) factors += (factors.empty() ? "" : " * ") + atom_text(atom, symbol);
    if (factors.empty()) {
      text += std::to_string(magnitude);
    } else {
      text += magnitude == 1 ? factors : fmt::format("{} * {}", magnitude, factors);
    }
  });
  return text;
}

std::string Dim::text() const {
  return text(shown_symbol);
}

std::string to_text(const Dims& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + dims[i].text();
  return text + "]";
}

Dim product(const Dims& dims) {
  Dim result(1);
  for (const Dim& dim : dims) result *= dim;
  return result;
}

bool all_fixed(const Dims& dims) {
  return std::all_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim.is_fixed(); });
}

std::vector<int64_t> fixed_values(const Dims& dims) {
  std::vector<int64_t> values;
  values.reserve(dims.size());
  for (const Dim& dim : dims) values.push_back(dim.value());
  return values;
}

Dims to_dims(const std::vector<int64_t>& sizes) {
  return Dims(sizes.begin(), sizes.end());
}

}  // namespace nnapi_convert
