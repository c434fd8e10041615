// Dim: the size of one dimension, a number or an integer expression over the sizes of the model's inputs.
//
// Expressions are kept in a normal form (a polynomial whose atoms are input sizes and floor divisions by a positive
// number), so that equal sizes written differently compare equal: floor((H+2-3)/2)+1 == floor((H-1)/2)+1. Two Dims that
// compare unequal may still be equal for some sizes: nothing may be concluded from `!=` unless both are fixed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nnapi_convert {

// Takes an expression apart, part by part. What it returns for a part is handed to it where the part is used.
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
  Dim(int64_t value);  // NOLINT: numbers are Dims
  // The size of dimension `axis` of the model's input number `input`; at least 1.
  static Dim of_input(int input, int axis);

  bool is_fixed() const;
  // The number; only for fixed Dims.
  int64_t value() const;
  std::optional<int64_t> fixed_value() const;

  Dim& operator+=(const Dim& other);
  Dim& operator*=(const Dim& other);
  friend Dim operator+(Dim a, const Dim& b) { return a += b; }
  friend Dim operator*(Dim a, const Dim& b) { return a *= b; }
  friend Dim operator-(const Dim& a, const Dim& b);
  friend bool operator==(const Dim& a, const Dim& b) { return a.key() == b.key(); }
  friend bool operator!=(const Dim& a, const Dim& b) { return !(a == b); }
  friend bool operator<(const Dim& a, const Dim& b) { return a.key() < b.key(); }

  // floor(this / divisor), divisor > 0.
  Dim floor_div(int64_t divisor) const;
  // this / divisor where the division is exact for every size; nullopt where that can't be proved.
  std::optional<Dim> exact_div(const Dim& divisor) const;

  // The number for given input sizes.
  int64_t evaluate(const std::function<int64_t(int input, int axis)>& size_of) const;
  // What the visitor makes of the whole expression.
  size_t visit(DimVisitor& visitor) const;
  // Text in Python's and TorchScript's syntax, with `symbol` naming an input's size: for example "(H + 1) // 2".
  std::string text(const std::function<std::string(int input, int axis)>& symbol) const;
  // Text for dumps: sizes are written x0.2 (input 0, axis 2).
  std::string text() const;

 private:
  // An input's size (numerator null) or floor(numerator / divisor).
  struct Atom {
    int input = 0;
    int axis = 0;
    std::shared_ptr<const Dim> numerator;
    int64_t divisor = 1;
  };
  // Product of atoms, sorted by their text; empty for the constant term.
  using Monomial = std::vector<Atom>;
  struct MonomialLess {
    bool operator()(const Monomial& a, const Monomial& b) const;
  };

  static size_t visit_atom(const Atom& atom, DimVisitor& visitor);
  static size_t visit_term(const Monomial& monomial, int64_t coefficient, DimVisitor& visitor);
  static std::string atom_text(const Atom& atom, const std::function<std::string(int, int)>& symbol);
  static std::string monomial_key(const Monomial& monomial);
  void add_term(const Monomial& monomial, int64_t coefficient);
  std::string key() const { return text(); }

  std::map<Monomial, int64_t, MonomialLess> terms_;  // no zero coefficients
};

using Dims = std::vector<Dim>;

// "[1, 3, x0.2, 224]".
std::string to_text(const Dims& dims);
// Product of all sizes; 1 for an empty list.
Dim product(const Dims& dims);
bool all_fixed(const Dims& dims);
// The numbers of fixed Dims.
std::vector<int64_t> fixed_values(const Dims& dims);
Dims to_dims(const std::vector<int64_t>& sizes);

}  // namespace nnapi_convert
