// SPDX-License-Identifier: BSD-3-Clause
// Represents the size of one dimension: a number, or an integer expression over the sizes of the model's inputs.
//
// Expressions have a normal form (a polynomial whose atoms are input sizes and floor divisions by a positive number),
// so that equal sizes written differently compare equal: floor((H+2-3)/2)+1 == floor((H-1)/2)+1. Two Dims that compare
// unequal may still be equal for some sizes: conclude nothing from `!=` unless both are fixed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nnapi_convert {

// Visits an expression part by part. It gets the number that it returned for a part where a larger part uses that part.
class DimVisitor {
 public:
  virtual ~DimVisitor() = default;
  virtual size_t number(int64_t value) = 0;
  virtual size_t size(int input, int axis) = 0;
  virtual size_t sum(size_t a, size_t b) = 0;
  virtual size_t product(size_t a, size_t b) = 0;
  virtual size_t floor_div(size_t a, size_t b) = 0;
};

class Dim {
 public:
  Dim() : Dim(0) {}
  Dim(int64_t value) : number_(value) {}  // NOLINT: numbers are Dims
  // Returns the size of dimension `axis` of the model's input number `input`, which is at least 1.
  static Dim of_input(int input, int axis);

  bool is_fixed() const { return terms_.empty(); }
  // Returns the number of a fixed Dim.
  int64_t value() const;
  std::optional<int64_t> fixed_value() const;
  // Returns the input and axis of a size by itself, which of_input() gives; nothing for any other Dim.
  std::optional<std::pair<int, int>> input_size() const;
  // True for an expression that gets smaller as the inputs' sizes grow, such as 2 - H.
  bool falls_with_sizes() const;
  // True for an expression that falls and is negative for all sizes, such as -H.
  bool is_negative() const;

  Dim& operator+=(const Dim& other);
  Dim& operator*=(const Dim& other);
  friend Dim operator+(Dim a, const Dim& b) { return a += b; }
  friend Dim operator*(Dim a, const Dim& b) { return a *= b; }
  friend Dim operator-(const Dim& a, const Dim& b);
  friend bool operator==(const Dim& a, const Dim& b);
  friend bool operator!=(const Dim& a, const Dim& b) { return !(a == b); }
  friend bool operator<(const Dim& a, const Dim& b) { return a.text() < b.text(); }

  // Returns floor(this / divisor) for divisor > 0.
  Dim floor_div(int64_t divisor) const;
  // Returns this / divisor if the division is provably exact for every size, else nullopt.
  std::optional<Dim> exact_div(const Dim& divisor) const;

  // Returns the number for given input sizes.
  int64_t evaluate(const std::function<int64_t(int input, int axis)>& size_of) const;
  // Visits all parts, and returns the visitor's number for the whole expression.
  size_t visit(DimVisitor& visitor) const;
  // Returns text in Python's and TorchScript's syntax, such as "(H + 1) // 2"; `symbol` names an input's size.
  std::string text(const std::function<std::string(int input, int axis)>& symbol) const;
  // Returns text for dumps, with sizes such as x0.2 (input 0, axis 2).
  std::string text() const;

 private:
  // An input's size (numerator null) or floor(numerator / divisor).
  struct Atom {
    int input = 0;
    int axis = 0;
    std::shared_ptr<const Dim> numerator;
    int64_t divisor = 1;
  };
  // Product of atoms, sorted by their text. It has at least one.
  using Monomial = std::vector<Atom>;
  struct MonomialLess {
    bool operator()(const Monomial& a, const Monomial& b) const;
  };

  static size_t visit_atom(const Atom& atom, DimVisitor& visitor);
  static size_t visit_term(const Monomial& monomial, int64_t coefficient, DimVisitor& visitor);
  static std::string atom_text(const Atom& atom, const std::function<std::string(int, int)>& symbol);
  static std::string monomial_key(const Monomial& monomial);
  // Calls visit(monomial, coefficient) for each term, and at the end with an empty monomial for a number that isn't 0.
  template <typename Visit>
  void for_each_term(const Visit& visit) const;
  void add_term(const Monomial& monomial, int64_t coefficient);

  int64_t number_ = 0;
  std::map<Monomial, int64_t, MonomialLess> terms_;  // those beside the number; no zero coefficients
};

using Dims = std::vector<Dim>;

// Returns a text such as "[1, 3, x0.2, 224]".
std::string to_text(const Dims& dims);
// Returns the product of all sizes; 1 for an empty list.
Dim product(const Dims& dims);
bool all_fixed(const Dims& dims);
// Returns the numbers of fixed Dims.
std::vector<int64_t> fixed_values(const Dims& dims);
Dims to_dims(const std::vector<int64_t>& sizes);

}  // namespace nnapi_convert
