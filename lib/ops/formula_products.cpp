// SPDX-License-Identifier: BSD-3-Clause
// Products of tensors in forms that no rule takes: a linear layer whose weight is a vector, the product of three
// tensors that bilinear layers are made of, and products of small integers.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "lib/ops/formulas.h"
#include "lib/ops/value_range.h"

namespace nnapi_convert {
namespace {

using at::Tensor;

bool has_vector_weight(const OpArguments& args) {
  return args.tensor("weight").rank() == 1 && args.tensor("input").dtype == at::kFloat;
}

std::vector<Formed> vector_linear(const FormulaArguments& args) {
  const Tensor product = at::matmul(args.tensor("input"), args.tensor("weight"));
  const Tensor bias = args.optional("bias");
  return {bias.defined() ? product + bias : product};
}

// The axes of the product have letters; a tensor has those that `missing` doesn't name.
std::string letters_without(int64_t rank, const std::vector<int64_t>& missing) {
  std::string letters;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (std::find(missing.begin(), missing.end(), axis) == missing.end()) {
      letters += static_cast<char>('a' + static_cast<int>(axis));
    }
  }
  return letters;
}

// _trilinear: multiplies the first two factors, sums the summed axes that only they have, then multiplies by the third
// factor.
std::vector<Formed> trilinear(const FormulaArguments& args) {
  const Tensor first = args.tensor("i1"), second = args.tensor("i2"), third = args.tensor("i3");
  const int64_t rank = first.dim() + static_cast<int64_t>(args.integers("expand1").size());
  const auto letters = [&](const char* missing) {
    std::vector<int64_t> axes = args.integers(missing);
    for (int64_t& axis : axes) axis = c10::maybe_wrap_dim(axis, rank);
    return letters_without(rank, axes);
  };
  const std::string of_first = letters("expand1"), of_second = letters("expand2"), of_third = letters("expand3"),
                    result = letters("sumdim");
  for (const char letter : letters_without(rank, {})) {
    if ((of_first + of_second + of_third).find(letter) == std::string::npos) {
      throw FormulaRefused(fmt::format("axis {} in expand1, expand2 and expand3", letter - 'a'),
                           "one that a factor has");
    }
  }
  std::string between;
  for (const char letter : letters_without(rank, {})) {
    const bool is_here = (of_first + of_second).find(letter) != std::string::npos;
    if (is_here && (of_third + result).find(letter) != std::string::npos) between += letter;
  }
  const Tensor pair = at::einsum(of_first + "," + of_second + "->" + between, {first, second});
  return {at::einsum(between + "," + of_third + "->" + result, {pair, third})};
}

bool are_floats(const OpArguments& args) {
  return args.tensor("i1").dtype == at::kFloat && args.tensor("i2").dtype == at::kFloat &&
         args.tensor("i3").dtype == at::kFloat;
}

// True for a few integers whose products' sums float32 holds exactly, in any order.
bool multiplies_small_integers(const OpArguments& args) {
  constexpr int64_t kMostPairs = 1 << 16;
  const char* second = args.has("mat2") ? "mat2" : "other";
  const TensorType left = args.tensor("self"), right = args.tensor(second);
  const bool are_whole = (left.dtype == at::kInt || left.dtype == at::kLong) && left.dtype == right.dtype;
  const bool are_matrices = left.dims.size() >= 2 && right.dims.size() >= 2;
  if (!are_whole || !are_matrices || !all_fixed(left.dims) || !all_fixed(right.dims)) return false;
  const auto a = integer_range(*args.input("self"), args.types()), b = integer_range(*args.input(second), args.types());
  if (!a || !b) return false;
  const IntegerRange product = *a * *b;
  const double greatest = std::max(std::abs(product.least), std::abs(product.greatest));
  const int64_t inner = left.dims.back().value();
  int64_t pairs = right.dims.back().value();
  for (const Dim& size : left.dims) pairs *= size.value();
  return greatest * static_cast<double>(inner) <= kExactInFloat32 && pairs <= kMostPairs;
}

// Multiplies each row of the left matrix by each column of the right one, and sums.
std::vector<Formed> integer_product(const FormulaArguments& args) {
  const Tensor left = args.tensor("self"), right = args.tensor(args.has("mat2") ? "mat2" : "other");
  const Tensor pairs = left.unsqueeze(-1) * right.unsqueeze(-3);
  return {at::sum(pairs, {-2}, false, left.scalar_type())};
}

}  // namespace

Formulas product_formulas() {
  return {
      {"aten::linear", has_vector_weight, vector_linear},
      {"aten::_trilinear", are_floats, trilinear},
      {"aten::mm", multiplies_small_integers, integer_product},
      {"aten::bmm", multiplies_small_integers, integer_product},
      {"aten::matmul", multiplies_small_integers, integer_product},
  };
}

}  // namespace nnapi_convert
