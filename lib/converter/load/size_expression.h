// SPDX-License-Identifier: BSD-3-Clause
// Reads how a size of an exported program depends on another one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nnapi_convert {

// A size that is factor * symbol + offset; the factor is above 0.
struct SizeExpression {
  std::string symbol;  // "s77"
  int64_t factor = 1, offset = 0;
};

// Returns "s77", "2*s77" or "2*s77 + 1".
std::string to_text(const SizeExpression& size);

// Returns the size for a value of the symbol; nothing if it is beyond int64.
std::optional<int64_t> size_for(const SizeExpression& size, int64_t symbol);

// Returns the value of the symbol that gives the size; nothing if no value does.
std::optional<int64_t> symbol_for(const SizeExpression& size, int64_t number);

// Reads a name, the form that sympy's srepr() has: "Add(Mul(Integer(2), Symbol('s77', integer=True)), Integer(1))", or
// that of str(): "2*s77 + 1".
// Returns nothing for other expressions: of several symbols, or not linear.
std::optional<SizeExpression> read_size_expression(std::string_view text);

}  // namespace nnapi_convert
