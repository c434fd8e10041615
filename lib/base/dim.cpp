#include "lib/base/dim.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/error.h"

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

std::string dump_symbol(int input, int axis) {
  return fmt::format("x{}.{}", input, axis);
}

}  // namespace

bool Dim::MonomialLess::operator()(const Monomial& a, const Monomial& b) const {
  // Highest degree first, so that the constant term comes last in texts.
  if (a.size() != b.size()) return a.size() > b.size();
  return monomial_key(a) < monomial_key(b);
}

Dim::Dim(int64_t value) {
  add_term({}, value);
}

Dim Dim::of_input(int input, int axis) {
  Dim dim;
  dim.add_term({Atom{input, axis, nullptr, 1}}, 1);
  return dim;
}

bool Dim::is_fixed() const {
  return terms_.empty() || (terms_.size() == 1 && terms_.begin()->first.empty());
}

int64_t Dim::value() const {
  NNC_ASSERT(is_fixed(), text());
  return terms_.empty() ? 0 : terms_.begin()->second;
}

std::optional<int64_t> Dim::fixed_value() const {
  if (!is_fixed()) return std::nullopt;
  return value();
}

void Dim::add_term(const Monomial& monomial, int64_t coefficient) {
  if (coefficient == 0) return;
  auto [term, is_new] = terms_.emplace(monomial, coefficient);
  if (is_new) return;
  term->second = checked_sum(term->second, coefficient);
  if (term->second == 0) terms_.erase(term);
}

Dim& Dim::operator+=(const Dim& other) {
  const auto added = other.terms_;  // a copy: `other` may be this
  for (const auto& [monomial, coefficient] : added) add_term(monomial, coefficient);
  return *this;
}

Dim operator-(const Dim& a, const Dim& b) {
  return a + b * Dim(-1);
}

Dim& Dim::operator*=(const Dim& other) {
  Dim result;
  for (const auto& [left, left_coefficient] : terms_) {
    for (const auto& [right, right_coefficient] : other.terms_) {
      Monomial both = left;
      both.insert(both.end(), right.begin(), right.end());
      std::sort(both.begin(), both.end(),
                [](const Atom& a, const Atom& b) { return atom_text(a, dump_symbol) < atom_text(b, dump_symbol); });
      result.add_term(both, checked_product(left_coefficient, right_coefficient));
    }
  }
  return *this = std::move(result);
}

Dim Dim::floor_div(int64_t divisor) const {
  if (divisor < 1) {
    throw ConvertError(ExitCode::kNotConvertible,
                       fmt::format("a stride or step of {} found, 1 or more needed", divisor));
  }
  if (divisor == 1) return *this;
  // Terms that are multiples of the divisor leave the division; the constant leaves it by its floor.
  Dim whole;
  Dim rest;
  for (const auto& [monomial, coefficient] : terms_) {
    if (monomial.empty() || coefficient % divisor == 0) {
      whole.add_term(monomial, floor_divide(coefficient, divisor));
      rest.add_term(monomial, coefficient - floor_divide(coefficient, divisor) * divisor);
    } else {
      rest.add_term(monomial, coefficient);
    }
  }
  if (rest.is_fixed()) return whole;  // 0 <= rest < divisor
  // floor((floor(n/a) + k) / b) == floor((n + k*a) / (a*b)).
  const auto& [first_monomial, first_coefficient] = *rest.terms_.begin();
  const bool single = rest.terms_.size() == 1 || (rest.terms_.size() == 2 && rest.terms_.rbegin()->first.empty());
  if (single && first_coefficient == 1 && first_monomial.size() == 1 && first_monomial[0].numerator) {
    const Atom& inner = first_monomial[0];
    const int64_t k = rest.terms_.size() == 2 ? rest.terms_.rbegin()->second : 0;
    return whole + (*inner.numerator + Dim(k * inner.divisor)).floor_div(inner.divisor * divisor);
  }
  whole.add_term({Atom{0, 0, std::make_shared<const Dim>(rest), divisor}}, 1);
  return whole;
}

std::optional<Dim> Dim::exact_div(const Dim& divisor) const {
  if (*this == divisor) return Dim(1);
  if (divisor.terms_.size() != 1) return std::nullopt;
  const auto& [divisor_monomial, divisor_coefficient] = *divisor.terms_.begin();
  Dim result;
  for (const auto& [monomial, coefficient] : terms_) {
    if (coefficient % divisor_coefficient != 0) return std::nullopt;
    Monomial rest = monomial;
    for (const Atom& atom : divisor_monomial) {
      const auto found = std::find_if(rest.begin(), rest.end(), [&](const Atom& other) {
        return atom_text(other, dump_symbol) == atom_text(atom, dump_symbol);
      });
      if (found == rest.end()) return std::nullopt;
      rest.erase(found);
    }
    result.add_term(rest, coefficient / divisor_coefficient);
  }
  return result;
}

int64_t Dim::evaluate(const std::function<int64_t(int, int)>& size_of) const {
  int64_t sum = 0;
  for (const auto& [monomial, coefficient] : terms_) {
    int64_t term = coefficient;
    for (const Atom& atom : monomial) {
      term = checked_product(term, atom.numerator ? floor_divide(atom.numerator->evaluate(size_of), atom.divisor)
                                                  : size_of(atom.input, atom.axis));
    }
    sum = checked_sum(sum, term);
  }
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
  for (const auto& [monomial, coefficient] : terms_) {
    const size_t term = visit_term(monomial, coefficient, visitor);
    sum = sum ? visitor.sum(*sum, term) : term;
  }
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
  std::string text;
  for (const auto& [monomial, coefficient] : terms_) {
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
  }
  return text.empty() ? "0" : text;
}

std::string Dim::text() const {
  return text(dump_symbol);
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
